--TEST--
runWorker(): dkim signs outgoing mail; its keys come from the argument or mailqueue.dkim
--EXTENSIONS--
posix
pdo_sqlite
--SKIPIF--
<?php
require dirname(__DIR__) . '/lib/servers.inc';
echo \MailQueueTest\missing('/usr/bin/openssl');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/programs.inc';
require dirname(__DIR__) . '/lib/queue.inc';

$keys = temporary_directory('keys');
foreach (['rsa' => ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
    'ed' => ['-algorithm', 'ed25519']] as $name => $options) {
    run(['openssl', 'genpkey', ...$options, '-out', "$keys/$name.pem"]);
    chmod("$keys/$name.pem", 0600);
}
$queue = new TestQueue();
$box = dirname($queue->path) . '/box';
/** Sends one mail into the Maildir; returns its signers, or the exception. */
$send = function (?string $dkim, string $test = 'x') use ($queue, $box, $keys): string {
    $queue->queue->jobs() === [] && $queue->add($test, ['a@example.org']);
    array_map(unlink(...), glob("$box/new/*"));
    $thrown = \thrown(fn() => $queue->work("file://$box", dkim: $dkim), $keys);
    $mail = file_get_contents(glob("$box/new/*")[0] ?? '/dev/null');
    preg_match_all('/^DKIM-Signature: (?:.*\n)(?:[ \t].*\n)*/m', $mail, $headers);
    $signed = array_map(static function (string $header): string {
        $header = preg_replace('/\s+/', '', $header);
        preg_match_all('/[:;]([ads])=([^;]*)/', ";$header", $tags);
        $tags = array_combine($tags[1], $tags[2]);
        return "$tags[s]._domainkey.$tags[d] $tags[a]";
    }, $headers[0]);
    return ($thrown === 'nothing' ? '' : "$thrown; ") . (implode(', ', $signed) ?: 'not signed');
};

echo 'two keys: ', $send("example.com:r:$keys/rsa.pem,example.com:e:$keys/ed.pem"), "\n";
echo 'another domain: ', $send("example.net:r:$keys/rsa.pem"), "\n";
echo 'none: ', $send(''), "\n";
echo 'no ini: ', $send(null), "\n";
echo "-- what cannot be used\n";
chmod("$keys/ed.pem", 0644);
foreach (["example.com:e:$keys/ed.pem", "example.com:e:$keys/no.pem", 'example.com', "a\0b",
    "example.com:r:$keys/rsa.pem, exa mple:r:$keys/rsa.pem"] as $dkim) {
    echo $send($dkim), "\n";
}
echo "-- the ini setting, and open_basedir\n";
$code = '[, $path, $box, $key] = $argv; $queue = new MailQueue($path);
    $work = fn(?string $dkim = null) => print(thrown(fn() => $queue->runWorker("file://$box",
        log: "", dkim: $dkim), dirname($key)) . "\n");
    $work();
    ini_set("open_basedir", dirname($path));
    $work(); $work("example.com:r:$key"); $work("");';
$library = var_export(dirname(__DIR__) . '/lib/queue.inc', true);
array_map(unlink(...), glob("$box/new/*"));
$queue->queue->jobs() === [] && $queue->add('i1', ['a@example.org']);
$process = proc_open([...php_command('-d', "mailqueue.dkim=example.com:i:$keys/rsa.pem"), '-r',
    "require $library; $code", '--', $queue->path, $box, "$keys/rsa.pem"], [1 => ['pipe', 'w']],
    $pipes);
echo stream_get_contents($pipes[1]);
proc_close($process);
echo preg_match('/^DKIM-Signature: .*?\bs=i;/ms', file_get_contents(glob("$box/new/*")[0])), "\n";
?>
--EXPECT--
two keys: r._domainkey.example.com rsa-sha256, e._domainkey.example.com ed25519-sha256
another domain: not signed
none: not signed
no ini: not signed
-- what cannot be used
MailQueue\Exception: dkim: the key file %/ed.pem can be read by all users; chmod it to 0600 or 0640; not signed
MailQueue\Exception: dkim: the key file %/no.pem cannot be opened: No such file or directory; the user who sends must be able to read it; not signed
MailQueue\Exception: dkim: "example.com" is not a key; write domain:selector:/path/to/key.pem; not signed
MailQueue\Exception: dkim: there is a NUL in it; remove it; not signed
MailQueue\Exception: dkim: "exa" is not a key; write domain:selector:/path/to/key.pem; not signed
-- the ini setting, and open_basedir
nothing
MailQueue\Exception: dkim: open_basedir does not allow the key file %/rsa.pem
MailQueue\Exception: dkim: open_basedir does not allow the key file %/rsa.pem
nothing
1
