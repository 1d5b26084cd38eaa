--TEST--
Messages arrive as they were stored: lone dots and line ends at every split of the buffers
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
echo Aiosmtpd::missing();
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

// Seen to fail with the doubling of dots taken out, and with the beginning of a line forgotten
// between two chunks: the servers take commands out of the messages, and the rest is not as stored.
const CHUNK = 16384;
const SMUGGLED = "MAIL FROM:<evil@example.net>\r\nRCPT TO:<victim@example.net>\r\nDATA\r\n"
    . "X-Test-Id: evil\r\n\r\nsmuggled";

/** A message that is stored with this many bytes, up to the tail's first; lines are short. */
function padded(string $test, int $bytes, string $tail): string
{
    $head = str_replace("\n", "\r\n", message($test, ''));
    $room = $bytes - strlen($head);
    $lines = str_repeat(str_repeat('x', 76) . "\r\n", intdiv($room, 78) + 1);
    $body = substr($lines, 0, $room);
    // Cut within CRLF or before it: the tail begins a line in either case.
    $body = preg_replace('/\r\n\z|.\r\z|..\z/s', "\r\n", $body, 1);
    return $head . $body . $tail;
}

$messages = [];
foreach (["\n.\n", "\r.\r", "\r\n.\r\n", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r", "\n\n.\n\n",
    ".", "..", "\n..\n", "\r\n.\r\n.\r\n"] as $sequence) {
    $messages[] = fn(string $test) => message($test, "text$sequence" . SMUGGLED . "$sequence.text");
    $messages[] = fn(string $test) => message($test, "text$sequence");
    $messages[] = fn(string $test) => message($test, ltrim($sequence));
}
// Dots around the positions at which a write, or a server's read, begins and ends.
foreach ([4096, 8192, CHUNK, 2 * CHUNK] as $border) {
    for ($offset = -8; $offset <= 8; $offset++) {
        $messages[] = fn(string $test) => padded($test, $border + $offset, ".\r\n" . SMUGGLED
            . "\r\n.\r\nend\r\n");
        $messages[] = fn(string $test) => padded($test, $border + $offset, ".");
    }
}
$messages[] = fn(string $test) => message($test, str_repeat(".\r\n", 20000));
$messages[] = fn(string $test) => message($test, str_repeat('.', 998) . "\n"
    . str_repeat("..\n", 10000));
$messages[] = fn(string $test) => message($test, '');

/** A queue with all of them. */
function filled(array $messages): TestQueue
{
    $queue = new TestQueue();
    foreach ($messages as $i => $message) {
        $queue->add("t$i", ["a$i@example.org"], $message("t$i"));
    }
    return $queue;
}

/** @param array<string, string> $received recipient → message */
function compare(string $server, array $received, array $stored, int $mails): void
{
    ksort($received);
    ksort($stored);
    echo "$server: $mails of ", count($stored), ' mails, ', $received === $stored ? 'as stored'
        : 'NOT as stored', "\n";
    foreach ($stored as $to => $message) {
        if (($received[$to] ?? '') !== $message) {
            echo "$to: ", substr(json_encode(substr($message, -300), JSON_INVALID_UTF8_SUBSTITUTE),
                0, 600), "\n";
        }
    }
    foreach (array_diff_key($received, $stored) as $to => $message) {
        echo "nobody sent to $to\n";
    }
}

// Line ends are the only change: lone CR and LF become CRLF, and dots stay.
$queue = filled($messages);
$stored = [];
$clean = true;
foreach ($messages as $i => $message) {
    $text = preg_replace('/\r\n|\r|\n/', "\r\n", $message("t$i"));
    $stored["a$i@example.org"] = $queue->queue->job($queue->ids["t$i"])->message;
    $clean = $clean && $stored["a$i@example.org"] === (str_ends_with($text, "\r\n") ? $text
        : "$text\r\n");
}
var_dump($clean);

foreach ([[], ['--no-pipelining'], ['--receive-buffer', '4096']] as $options) {
    $sink = new Sink('', $options);
    filled($messages)->work("smtp://127.0.0.1:$sink->port", connections: 2);
    $sink->stop();
    $received = [];
    foreach (glob($sink->path('saved') . '/*.eml') as $file) {
        preg_match('/^X-Test-Id: t(\d+)\r$/m', $message = file_get_contents($file), $match);
        $received['a' . ($match[1] ?? '?') . '@example.org'] = $message;
    }
    compare('sink ' . implode(' ', $options), $received, $stored, count($sink->accepted()));
    echo implode("\n", $sink->violations());
}

$server = new Aiosmtpd();
filled($messages)->work("smtp://127.0.0.1:$server->port", connections: 2);
$received = [];
foreach ($server->mails() as $mail) {
    $received[$mail['to'][0]] = $mail['message'];
}
compare('aiosmtpd', $received, $stored, count($server->mails()));
?>
--EXPECT--
bool(true)
sink : 175 of 175 mails, as stored
sink --no-pipelining: 175 of 175 mails, as stored
sink --receive-buffer 4096: 175 of 175 mails, as stored
aiosmtpd: 175 of 175 mails, as stored
