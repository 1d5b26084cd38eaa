--TEST--
Mutated reports: no error, and an event only for the address of the token
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/messages.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';
use MailQueue\Cli\Bounce\Reader;
use MailQueue\Cli\Bounce\Recorder;

set_error_handler(function (int $level, string $text): bool {
    if (error_reporting() & $level) {
        throw new ErrorException($text);
    }
    return true;
});
$seed = (int) (getenv('MQ_SEED') ?: 20261126);
mt_srand($seed);
$queue = new MailQueue(database());
$to = 'ann@example.net';
$sender = sender_to($queue, $to);
$reader = new Reader($queue);
$recorder = new Recorder($queue);
$messages = array_column(bounces($sender, $to), 0);
$pieces = ["\n", "\n\n", "\r\n", "\0", '=', '--', ';', ':', '"', '<', '>', '@', "\xff", "Content-Type: multipart/report; boundary=x\n", 'boundary="', '--x', 'message/rfc822', '5.1.1', "Action: failed\n",
    "Content-Transfer-Encoding: base64\n", 'victim@example.com', "Final-Recipient: rfc822; victim@example.com\n", $sender, strrev($sender), str_repeat('a', 300)];
$events = $others = 0;
for ($round = 0; $round < 6000; $round++) {
    $message = $messages[mt_rand(0, count($messages) - 1)];
    for ($i = mt_rand(1, 12); $i > 0; $i--) {
        $at = mt_rand(0, strlen($message));
        $length = mt_rand(0, mt_rand(0, 3) === 0 ? 400 : 3);
        $message = match (mt_rand(0, 4)) {
            0 => substr_replace($message, $pieces[mt_rand(0, count($pieces) - 1)], $at, $length),
            1 => substr_replace($message, chr(mt_rand(0, 255)), $at, 1),
            2 => substr_replace($message, '', $at, $length),
            3 => substr_replace($message, substr($message, mt_rand(0, strlen($message)), $length), $at, 0),
            default => mt_rand(0, 9) === 0 ? substr($message, 0, $at) : $message,
        };
    }
    try {
        foreach ($reader->read($message)->events as $event) {
            $events++;
            $others += $event->address === null || strcasecmp($event->address, $to) === 0 ? 0 : 1;
            $round % 20 !== 0 || $recorder->record($event);
        }
    } catch (Throwable $e) {
        file_put_contents($file = sys_get_temp_dir() . '/mutated.eml', $message);
        echo "seed $seed, round $round, $file: $e\n";
        break;
    }
}
echo $events > 2000 ? 'many events' : "$events events", ", $others about others\n";
foreach ($queue->suppressions(1000) as $one) {
    $one['address'] === null || $one['address'] === $to || print("$one[address] is suppressed\n");
}
?>
--EXPECT--
many events, 0 about others
