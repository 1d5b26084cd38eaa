--TEST--
What the bridges share: the queue's fields, lines that are too long, options, the package
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
iconv
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
use MailQueue\Bridge\{MessageText, Outbox};

echo "-- fields\n";
function show(string $message): void
{
    $other = null;
    echo thrown(function () use ($message, &$other): void { $other = MessageText::takeOptions($message); }) === 'nothing'
        ? json_encode($other, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES)
        : thrown(fn() => MessageText::takeOptions($message)), "\n";
}
foreach (["\r\n", "\n", "\r"] as $end) {
    show(strtr("From: a$\nX-MailQueue-Type: news$\nSubject: b$\n c$\nx-mailqueue-REFERENCE :$\n\tr 1$\n$\nX-MailQueue-Type: body$\n", ["$\n" => $end]));
}
show("X-MailQueue-Type: first\n\nbody");
show("A: 1\r\nX-MailQueue-Type: no body");
show("A: 1\r\nX-MailQueue-Typ: x\r\n\r\n");
show("A: 1\r\nX-MailQueue-Priority: 1.5\r\n\r\n");
show("A: 1\r\nX-MailQueue-Priority: -5\r\nX-MailQueue-Max-Attempts: 07\r\n\r\n");
show("A: 1\r\nX-MailQueue-Priority: -5\r\nX-MailQueue-Max-Attempts: 7\r\nX-MailQueue-Relay: own\r\n\r\n");
show("X-MailQueue-Send-At: Tue, 1 Jan 2030 00:00:00 +0100\r\nX-MailQueue-Expires-At: 1893456000\r\n\r\n");
show("X-MailQueue-Send-At:\r\n\r\n");
show("X-MailQueue-Reference: =?utf-8?Q?Gr=C3=BC=C3=9Fe_?=\r\n =?utf-8?B?8J+OiQ==?=\r\n\r\n");
show("A: 1\r\nX-MailQueued: 2\r\n\r\nX-MailQueue-Type: in the body\r\n");
$signed = "DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s;\r\n h=From:Subject:\r\n\tX-MailQueue-Type; bh=h=;\r\n b=x\r\n";
show("{$signed}X-MailQueue-Type: signed\r\nX-MailQueue-Priority: 3\r\n\r\n");

echo "-- long lines\n";
function lengths(string $text): string
{
    return implode(' ', array_map(strlen(...), explode("\r\n", $text)));
}
$long = 'To: ' . implode(', ', array_map(fn($i) => "recipient$i@example.net", range(1, 100)));
$message = "$long\r\nX: " . str_repeat('y', 2500) . "\r\nZ: " . str_repeat('z', 995) . "\r\n\r\n" . str_repeat('b', 2000) . "\r\n";
$header = MessageText::cutLongLines($message, false);
echo lengths($message), "\n", lengths($header), "\n", lengths(MessageText::cutLongLines($message, true)), "\n";
check('unfolded it is the same', str_starts_with(str_replace("\r\n\t", ' ', $header), $long));
check('lines may end in any way', lengths(strtr(MessageText::cutLongLines("A: 1\r\r" . str_repeat('d', 999) . "\r", true), ["\r\n" => '|', "\r" => '|'])) === '1007');
check('what fits is left alone', MessageText::cutLongLines($fits = str_repeat('c', 998) . "\n\nx", true) === $fits);

echo "-- outbox\n";
$queue = new FakeQueue();
$outbox = Outbox::fromOptions(['type' => 'a', 'priority' => '7', 'other' => 1, 'table' => null], queue: $queue);
echo $outbox->put("A: 1\r\nX-MailQueue-Type: b\r\n\r\n", 'me@example.org', [3 => 'you@example.net']), ' ',
    json_encode(array_filter($queue->calls[0])), "\n";
foreach ([['priority' => 'x'], ['config_table' => 'c']] as $options) {
    echo thrown(fn() => Outbox::fromOptions($options)), "\n";
}
echo thrown(fn() => Outbox::fromOptions([])->put("A: 1\r\n\r\n", 'a@example.org', ['b@example.net'])), "\n";
$path = bridge_database();
$code = 'require $argv[1]; $outbox = MailQueue\Bridge\Outbox::fromOptions([]);
    echo $outbox->put("A: 1\n\n", "a@example.org", ["b@example.net"]), $outbox->put("A: 2\n\n", "a@example.org", ["b@example.net"]);';
$process = proc_open(php_command('-d', "mailqueue.database=$path", '-r', $code, '--', dirname(__DIR__, 2) . '/integrations/autoload.php'),
    [1 => ['pipe', 'w']], $pipes);
echo "by the ini setting: ", stream_get_contents($pipes[1]), ', ', waiting($path), " wait\n";
proc_close($process);
$outbox = Outbox::fromOptions(['database' => $path, 'table' => 'mails', 'config_table' => 'settings', 'busy_timeout' => '50',
    'durability' => 'normal', 'max_attempts' => 3]);
echo $outbox->put("A: 1\r\n\r\n", 'a@example.org', ['b@example.net']), ' ', (new \MailQueue($path, 'mails', 'settings'))->jobs()[0]->maxAttempts, "\n";
foreach ([["A: 1\r\n\r\n", ["b@example.net\r\nX: y"]], ["A: 1\0\r\n\r\n", ['b@example.net']], ["A: 1\r\n\r\n", []]] as [$message, $to]) {
    echo strtok(thrown(fn() => $outbox->put($message, 'a@example.org', $to)), ':'), "\n";
}

echo "-- a logger and a listener that throw\n";
interface_exists('Psr\Log\LoggerInterface') || eval('namespace Psr\Log; interface LoggerInterface {}');
interface_exists('Psr\EventDispatcher\EventDispatcherInterface') || eval('namespace Psr\EventDispatcher; interface EventDispatcherInterface {}');
eval('final class ThrowingLog implements Psr\Log\LoggerInterface {
    public function info() { throw new RuntimeException("disk full"); }
    public function error() { throw new RuntimeException("disk still full"); } }
final class ThrowingDispatcher implements Psr\EventDispatcher\EventDispatcherInterface {
    public function dispatch(object $event) { throw new Error("no such listener for " . basename(strtr($event::class, "\\\\", "/"))); } }');
ini_set('error_log', $errors = dirname($path) . '/errors.log');
$waiting = waiting($path);
$outbox = Outbox::fromOptions(['database' => $path], new \ThrowingLog(), new \ThrowingDispatcher());
echo thrown(fn() => $outbox->put("A: 1\r\n\r\n", 'a@example.org', ['b@example.net'])), ', ', waiting($path) - $waiting, " queued\n";
echo strtok(thrown(fn() => $outbox->put("A: 1\0\r\n\r\n", 'a@example.org', ['b@example.net'])), ':'), ', ', waiting($path) - $waiting, " queued\n";
echo preg_replace(['/^\[.*?\] /m', '/ \(\S+:\d+\)(?= : |$)/m', "/ \(\/.*\)$/m"], '', is_file($errors) ? file_get_contents($errors) : "nothing\n");
ini_restore('error_log');

echo "-- package\n";
$root = dirname(__DIR__, 2) . '/integrations';
$package = json_decode(file_get_contents("$root/composer.json"), true, flags: JSON_THROW_ON_ERROR);
foreach ($package['autoload']['psr-4'] as $prefix => $directory) {
    foreach (glob("$root/$directory*.php") as $file) {
        if (preg_match('/^[A-Z]/', basename($file)) === 1) {
            $source = file_get_contents($file);
            $class = $prefix . basename($file, '.php');
            check($class, str_contains($source, 'namespace ' . rtrim($prefix, '\\') . ';')
                && str_contains(file_get_contents("$root/autoload.php"), var_export($prefix, true) . " => '" . rtrim($directory, '/') . "'"));
        }
    }
}
?>
--EXPECT--
-- fields
["From: a\r\nSubject: b\r\n c\r\n\r\nX-MailQueue-Type: body\r\n",{"type":"news","reference":"r 1"}]
["From: a\nSubject: b\n c\n\nX-MailQueue-Type: body\n",{"type":"news","reference":"r 1"}]
["From: a\rSubject: b\r c\r\rX-MailQueue-Type: body\r",{"type":"news","reference":"r 1"}]
["\nbody",{"type":"first"}]
["A: 1\r\n",{"type":"no body"}]
MailQueue\Exception: X-MailQueue-Typ: unknown; the fields for the queue are X-MailQueue-Type, X-MailQueue-Reference, X-MailQueue-Priority, X-MailQueue-Max-Attempts, X-MailQueue-Send-At, X-MailQueue-Expires-At, X-MailQueue-Relay
MailQueue\Exception: X-MailQueue-Priority: not a number; give a whole one
MailQueue\Exception: X-MailQueue-Max-Attempts: not a number; give a whole one
["A: 1\r\n\r\n",{"priority":-5,"maxAttempts":7,"relay":"own"}]
["\r\n",{"sendAt":1893452400,"expiresAt":1893456000}]
MailQueue\Exception: X-MailQueue-Send-At: not a time; give seconds since 1970 or a date as DateTimeImmutable reads it
["\r\n",{"reference":"Grüße 🎉"}]
["A: 1\r\nX-MailQueued: 2\r\n\r\nX-MailQueue-Type: in the body\r\n",[]]
["DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s;\r\n h=From:Subject:\r\n\tX-MailQueue-Type; bh=h=;\r\n b=x\r\nX-MailQueue-Type: signed\r\n\r\n",{"type":"signed","priority":3}]
-- long lines
2494 2503 998 0 2000 0
994 975 525 2 997 997 509 998 0 2000 0
994 975 525 2 997 997 509 998 0 997 997 6 0
ok   unfolded it is the same
ok   lines may end in any way
ok   what fits is left alone
-- outbox
1 {"message":"A: 1\r\n\r\n","type":"b","priority":7,"envelopeFrom":"me@example.org","recipients":["you@example.net"]}
MailQueue\Exception: priority: not a number; give a whole one
MailQueue\Exception: config_table: belongs to a database; give the option "database" too
MailQueue\Exception: The ini setting mailqueue.database is empty: set it to the path of the SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)
by the ini setting: 12, 2 wait
1 3
MailQueue\MessageException [recipients[0]]
MailQueue\MessageException [message]
MailQueue\MessageException [recipients]
-- a logger and a listener that throw
nothing, 1 queued
MailQueue\MessageException [message], 1 queued
mailqueue: the logger threw RuntimeException: disk full
mailqueue: the event dispatcher threw Error: no such listener for MessageQueued
mailqueue: the logger threw RuntimeException: disk still full
mailqueue: the event dispatcher threw Error: no such listener for MessageNotQueued
-- package
ok   MailQueue\Bridge\MessageNotQueued
ok   MailQueue\Bridge\MessageQueued
ok   MailQueue\Bridge\MessageText
ok   MailQueue\Bridge\Outbox
ok   MailQueue\Bridge\CakePHP\MailQueueTransport
ok   MailQueue\Bridge\Laravel\MailQueueServiceProvider
ok   MailQueue\Bridge\PHPMailer\MailQueuePHPMailer
ok   MailQueue\Bridge\PHPMailer\SendsThroughQueue
ok   MailQueue\Bridge\Symfony\MailQueueSymfonyBundle
ok   MailQueue\Bridge\Symfony\MailQueueTransport
ok   MailQueue\Bridge\Symfony\MailQueueTransportFactory
ok   MailQueue\Bridge\WordPress\QueuePage
ok   MailQueue\Bridge\WordPress\SendsWordPressMail
ok   MailQueue\Bridge\WordPress\SettingsPage
