--TEST--
The map of relays: by sender, by domain, default; by a function of the bootstrap; bad maps are refused before anything is claimed
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';

$sinks = ['A' => new Sink(''), 'B' => new Sink(''), 'C' => new Sink('')];
$dsn = array_map(static fn(Sink $sink): string => "smtp://127.0.0.1:$sink->port", $sinks);
$directory = temporary_directory('relays');
chmod($directory, 0700);

/** Who got which mail since the last call. */
function shares(): string
{
    global $sinks;
    static $before = [];
    $text = '';
    foreach ($sinks as $name => $sink) {
        $tests = array_map(static fn($one) => strtok($one, ' '), array_keys($sink->counts()));
        $text .= " $name=" . implode(',', array_diff($tests, $before[$name] ?? []));
        $before[$name] = $tests;
    }
    return $text;
}

function mail(TestQueue $queue, string $test, ?string $from): void
{
    $queue->ids[$test] = $queue->queue->enqueue(message($test), reference: $test, envelopeFrom: $from,
        recipients: ["$test@example.net"]);
}

$queue = new TestQueue();
$mails = static function (string $run) use ($queue): void {
    foreach (['Billing@Example.org', 'news@example.org', 'x@other.example', 'x@sub.example.org', ''] as $i => $from) {
        mail($queue, "$run$i", $from);
    }
};
$map = ['billing@example.org' => $dsn['A'], '@EXAMPLE.org' => "failover($dsn[B] $dsn[A])"];
$mails('a');
echo $queue->work($dsn['C'], relays: $map)->end, ':', shares(), "\n";
$mails('b');
echo $queue->work('smtp://127.0.0.1:1', relays: $map + ['default' => $dsn['C']])->end, ':', shares(), "\n";
$mails('c');
$of = static fn(\MailQueue\Job $job): string => match ($job->envelopeFrom) {
    'Billing@Example.org' => $dsn['A'],
    'news@example.org' => '',
    'x@other.example' => throw new \Exception('no relay for that'),
    'x@sub.example.org' => 'smtp://a b',
    default => "roundrobin($dsn[C])",
};
echo $queue->work($dsn['B'], relays: $of)->end, ':', shares(), "\n";
foreach (['c2', 'c3'] as $test) {
    $job = $queue->queue->job($queue->ids[$test]);
    echo "  $test: {$job->status->value}, attempts $job->attempts, in ",
        round(($job->nextAttemptAt - time()) / 60), ' minutes: ', substr($job->lastError, 0, 60), "\n";
}
foreach (['c2', 'c3'] as $test) {
    $queue->queue->delete([$queue->ids[$test]]);
}

echo "composed mail goes by the sender that composing tells:\n";
$queue->queue->enqueue(null, reference: 'd1');
echo $queue->work($dsn['C'], relays: $map, compose: static fn($job) => ['from' => 'news@example.org',
    'to' => 'a@example.net', 'subject' => 'x', 'text' => 'x', 'headers' => ['X-Test-Id' => 'd1']])->end, ':', shares(), "\n";

echo "from a bootstrap file:\n";
$bootstrap = "$directory/bootstrap.php";
$choices = [
    'function' => 'static fn(\MailQueue\Job $job): string => $job->envelopeFrom === "news@example.org" ? '
        . var_export($dsn['B'], true) . ' : ""',
    'array' => var_export($map, true),
];
putenv("MAILQUEUE_RELAYS=$directory/none.php"); // the bootstrap's are taken before it
foreach ($choices as $what => $code) {
    file_put_contents($bootstrap, "<?php return ['relays' => $code];");
    chmod($bootstrap, 0600);
    $mails($what);
    $result = command_line($queue, $dsn['C'], 'work', '--quiet', '--bootstrap', $bootstrap);
    echo "  exit $result[code]:", shares(), $result['errors'], $result['output'], "\n";
}
file_put_contents($bootstrap, '<?php return ["relays" => ["a b" => "null://null"]];');
echo '  ', str_replace($directory, '%', command_line($queue, $dsn['C'], 'work', '--bootstrap', $bootstrap)['errors']);
putenv('MAILQUEUE_RELAYS');

echo "a relay that is paused holds up no other:\n";
$sinks['A']->rules('at mail reply="554 5.7.1 no"');
for ($i = 0; $i < 30; $i++) {
    mail($queue, "e$i", 'billing@example.org');
}
mail($queue, 'f1', 'news@example.org');
echo $queue->work($dsn['C'], relays: ['billing@example.org' => $dsn['A'], '@example.org' => $dsn['B']], timeLimit: 30)->end, ':',
    shares(), ', ', count($queue->queue->jobs()), " wait\n";
foreach ($queue->queue->jobs() as $job) {
    $job->attempts === 0 && $job->nextAttemptAt - time() <= 60 || print("WRONG\n");
}

echo "refused:\n";
foreach ([
    ['' => $dsn['A']], ['a@example.org' => 1], ['a@example.org' => 'smtp://u:s3cret@h?x=1'],
    ['a@example.org' => 'failover(smtp://h null://null?x=1)'], ['a@h' => $dsn['A'], 'A@h' => $dsn['B']], 'relays.php',
] as $bad) {
    try {
        $queue->work($dsn['C'], relays: $bad);
        echo "taken\n";
    } catch (\Error $e) {
        echo $e::class, ': ', substr($e->getMessage(), 24, 100), "\n";
    }
}
$file = "$directory/relays.php";
foreach (['return 1;', 'return ["a b" => "null://null"];', 'return ["a@b" => "smtp://h?tls=x"];', 'return ["a@b" => ["x"]];',
    'return [', 'return ["default" => "null://null"];'] as $code) {
    file_put_contents($file, "<?php $code");
    $result = command_line($queue, $dsn['C'], 'work', '--quiet', '--relays', $file);
    echo $result['code'], ' ', str_replace($directory, '%', $result['errors'] . $result['output']) ?: "\n";
}
file_put_contents($file, '<?php return ["default" => "smtp://user:s3cret@127.0.0.1:1"];');
foreach ([0600, 0644] as $mode) {
    chmod($file, $mode);
    preg_match_all('/^look +(relays file.*)\n.*\n +(.*)$/m', command_line($queue, $dsn['C'], 'doctor', '--relays', $file)['output'], $found);
    echo decoct($mode), ' ', str_replace($directory, '%', implode(' ', [...$found[1], ...$found[2]])), "\n";
}
chmod($file, 0600);
file_put_contents($file, '<?php return ' . var_export($map, true) . ';');
putenv("MAILQUEUE_RELAYS=$file");
preg_match_all('/^ok +(mail goes to|relay: smtp\S+ connected|relay: EHLO)/m',
    command_line($queue, $dsn['C'], 'doctor')['output'] . command_line($queue, $dsn['C'], 'doctor', '--relay')['output'], $found);
echo implode(', ', $found[1]), "\n";
?>
--EXPECTF--
empty: A=a0 B=a1 C=a2,a3,a4
empty: A=b0 B=b1 C=b2,b3,b4
empty: A=c0 B=c1 C=c4
  c2: pending, attempts 0, in 60 minutes: relays: Exception: no relay for that
  c3: pending, attempts 0, in 60 minutes: transport: what follows :// must be host, host:port or user:
composed mail goes by the sender that composing tells:
empty: A= B=d1 C=
from a bootstrap file:
  exit 0: A= B=function1 C=function0,function2,function3,function4
  exit 0: A=array0 B=array1 C=array2,array3,array4
  mailqueue: Bootstrap file %c/bootstrap.php: "relays": "a b" is not a sender's address, @domain or name without blanks; correct it
a relay that is paused holds up no other:
empty: A= B=f1 C=, 30 wait
refused:
ValueError: Argument #18 ($relays) cannot be used: relays: "": the key is empty
ValueError: Argument #18 ($relays) cannot be used: relays: "a@example.org" is not a string; give a DSN, such as 
ValueError: Argument #18 ($relays) cannot be used: relays: "a@example.org": transport: unknown option "x"; smtp:
ValueError: Argument #18 ($relays) cannot be used: relays: "a@example.org": transport: unknown option "x"; null:
ValueError: Argument #18 ($relays) cannot be used: relays: "A@h": the key is there twice, in upper and lower cas
TypeError: Argument #18 ($relays) must be of type Closure|array|null, string given
78 mailqueue: Relays file %c/relays.php must return an array from senders to DSNs, not int.
78 mailqueue: Relays file %c/relays.php: "a b" is not a sender's address, @domain or name without blanks; correct it
78 mailqueue: Relays file %c/relays.php: "a@b" names a relay that cannot be used: option tls must be auto, none or required
78 mailqueue: Relays file %c/relays.php: "a@b" is of type array; give a DSN, such as smtp://user:password@host:587
78 mailqueue: Relays file %c/relays.php has a syntax error: Parse error: Unclosed '[' in %c/relays.php on line 1
0 
600 
644 relays file %c/relays.php has passwords in it, and every user of this host may read it chmod 600 %c/relays.php
mail goes to, mail goes to, mail goes to, relay: smtp://127.0.0.1:%d: connected, relay: EHLO, relay: smtp://127.0.0.1:%d: connected, relay: EHLO, relay: smtp://127.0.0.1:%d: connected, relay: EHLO, relay: smtp://127.0.0.1:%d: connected, relay: EHLO
