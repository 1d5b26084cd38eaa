--TEST--
Bounces in the forms of Postfix, Exim, Exchange, Google, qmail, Yahoo and Sendmail, complaints, and mail that is neither: what each is, and whom it is about
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/messages.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';
use MailQueue\Cli\Bounce\Reader;

$queue = new MailQueue(database());
$to = 'Ann.Muster@example.net';
$sender = sender_to($queue, $to);
echo preg_replace('/[a-z2-7]{32}/', 'TOKEN', $sender), "\n";
$reader = new Reader($queue);
$words = ['a bounce' => '', 'a complaint' => '', 'a report that a mail is not given up, or was delivered' => '[delay]', 'an automatic reply' => '[auto-reply]', 'mail of a list' => '[list]', 'not a report' => '[other]'];
$right = 0;
$all = bounces($sender, $to);
foreach ($all as $name => [$message, $expected]) {
    foreach (["\n", "\r\n"] as $end) {
        $reading = $reader->read(str_replace("\n", $end, $message));
        $event = $reading->events[0] ?? null;
        $is = $event?->kind->value ?? $words[$reading->what] ?? $reading->what;
        $is === $expected ? $right++ : print("$name: $is, not $expected: " . ($event?->text ?? $reading->what) . "\n");
        count($reading->events) < 2 || print("$name: " . count($reading->events) . " events\n");
        $event === null || $event->address === (str_contains($name, 'redacted') ? null : $to) || print("$name: about " . json_encode($event->address) . "\n");
        $event === null || $event->text !== '' || print("$name: no text\n");
    }
}
echo count($all), ' messages, ', $right >= 2 * 0.98 * count($all) ? 'at least 98 % right' : "$right of twice that right", "\n";
echo count(array_unique(array_map(fn(array $one): string => $reader->read($one[0])->events[0]->id ?? '', $all))), " ids\n";

echo "-- from a stream, of which only the beginning is read\n";
$stream = fopen('php://temp', 'w+');
fwrite($stream, $all['postfix, no user'][0] . str_repeat("0123456789abcdef\n", 100_000));
rewind($stream);
echo $reader->read($stream)->events[0]->kind->value, ' ', ftell($stream), "\n";
?>
--EXPECT--
bounces+TOKEN@example.org
85 messages, at least 98 % right
72 ids
-- from a stream, of which only the beginning is read
hard 262144
