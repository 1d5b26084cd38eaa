--TEST--
sign in the bootstrap: S/MIME that openssl cms verifies, and DKIM over it; what fails; each attempt signs again
--EXTENSIONS--
posix
pdo_sqlite
mbstring
openssl
--SKIPIF--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/servers.inc';
echo missing('/usr/bin/python3', '/usr/bin/openssl');
?>
--FILE--
<?php
namespace MailQueueTest;
require dirname(__DIR__) . '/lib/delivery.inc';
require dirname(__DIR__) . '/lib/queue.inc';

const VERIFY = 'import sys, dkim
key = open(sys.argv[1]).read().strip().encode()
for name in sys.argv[2:]:
    if not dkim.verify(open(name, "rb").read(), dnsfunc=lambda *a, **k: b"v=DKIM1; k=rsa; p=" + key):
        print(name, "does not verify")
print(len(sys.argv) - 2, "verified by python3-dkim")';

register_shutdown_function(function () use (&$queue): void { // before the directories go
    [$job] = $queue->queue->jobs();
    echo "exit: {$job->status->value} $job->attempts\n";
});
$keys = temporary_directory('keys');
run(['openssl', 'genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', "$keys/key.pem"]);
chmod("$keys/key.pem", 0600);
run(['openssl', 'pkey', '-in', "$keys/key.pem", '-pubout', '-out', "$keys/public.pem"]);
file_put_contents("$keys/public", preg_replace('/-----.*-----|\s/', '', file_get_contents("$keys/public.pem")));
run(['openssl', 'req', '-x509', '-key', "$keys/key.pem", '-subj', '/CN=Shop/emailAddress=shop@example.com',
    '-days', '2', '-out', "$keys/cert.pem"]);

// The bootstrap file of the page.
preg_match('/^```php\n(<\?php \/\/ smime\.php.*?)^```/ms', file_get_contents(dirname(__DIR__, 2) . '/docs/transports.md'), $example);

$html = "<p>Größe <img src=\"cid:logo\"></p>\n" . str_repeat("<p>From: a line\n.\n", 30);
$mails = [
    'text' => ['text' => "Hello\n\n.\nFrom Zoë, with a dot and a blank at the end \n"],
    'parts' => ['html' => $html, 'inline' => ['logo' => ['data' => random_bytes(3000), 'type' => 'image/png']],
        'attachments' => [['data' => str_repeat("a\0\r\n", 1000), 'name' => 'Rechnung № 1.pdf']]],
    'raw' => "From: Shop <shop@example.com>\nTo: x@example.net\nSubject: raw\nMIME-Version: 1.0\nX-Long: a\n"
        . "\tfolded\nContent-Type: text/plain;\n charset=utf-8\n\nno line end",
    'no MIME' => "From: shop@example.com\nTo: x@example.net\nSubject: old\n\nonly text\n",
];
foreach (['openssl_pkcs7_sign', 'openssl_cms_sign'] as $function) {
    echo "-- $function\n";
    file_put_contents("$keys/smime.php", str_replace(['/home/me/smime', 'openssl_pkcs7_sign'], [$keys, $function], $example[1]));
    chmod("$keys/smime.php", 0600);
    $sink = new Sink('at dot times=1 reply="451 4.3.0 later"');
    $queue = new TestQueue();
    foreach ($mails as $test => $mail) {
        $queue->ids[$test] = $queue->queue->enqueue(is_string($mail) ? $mail
            : $mail + ['from' => 'Shop <shop@example.com>', 'to' => 'x@example.net', 'subject' => "Größe: $test"],
            reference: $test);
    }
    $stored = array_map(fn(int $id): array => [$queue->queue->job($id)->messageId, $queue->queue->job($id)->message], $queue->ids);
    $work = fn(): array => command_line($queue, "smtp://127.0.0.1:$sink->port", 'work', '--connections', '1',
        '--bootstrap', "$keys/smime.php", '--dkim', "example.com:k:$keys/key.pem");
    echo $work()['output'];
    foreach ($queue->ids as $test => $id) {
        $job = $queue->queue->job($id);
        echo $job === null ? '' : "$test: $job->lastError, stored as it was: " . var_export($job->message === $stored[$test][1], true) . "\n";
    }
    $queue->timePasses();
    echo $work()['output'];

    $received = [];
    foreach (glob($sink->path('saved') . '/*.eml') as $file) {
        preg_match('/^Message-ID: (.*?)\r\n/mi', file_get_contents($file), $id);
        $received[$id[1]] = $file;
    }
    foreach ($stored as $test => [$id, $message]) {
        $file = $received[$id];
        run(['openssl', 'cms', '-verify', '-in', $file, '-CAfile', "$keys/cert.pem", '-purpose', 'any', '-out', "$keys/content"]);
        [$head, $body] = explode("\r\n\r\n", $message, 2);
        $content = explode("\r\n\r\n", file_get_contents("$keys/content"), 2)[1];
        preg_match_all('/^(?!Content-|MIME-)\S+:(?:.*\r\n)(?:[ \t].*\r\n)*/m', "$head\r\n", $fields);
        $text = file_get_contents($file);
        $lost = array_filter($fields[0], fn(string $field): bool => substr_count($text, "\r\n$field") !== 1);
        echo "$test: verified by openssl cms, body ", $content === $body ? 'same' : 'changed', ', fields ',
            $lost === [] ? 'kept' : 'lost: ' . json_encode($lost), "\n";
    }
    echo run(['python3', '-c', VERIFY, "$keys/public", ...array_values($received)]);
    var_dump($sink->violations());
}

echo "-- what fails is tried later, and never goes unsigned\n";
$queue = new TestQueue();
$try = function (callable $sign, mixed ...$arguments) use ($queue): void {
    $id = $queue->queue->enqueue(...$arguments + ['message' => \mail_fields(from: 'shop@example.com')]);
    $thrown = \thrown(fn() => $queue->work('null://null', compose: fn() => \mail_fields(), sign: $sign));
    $job = $queue->queue->job($id);
    echo $job === null ? 'sent' : "{$job->status->value} $job->attempts $job->lastError", $thrown === 'nothing' ? '' : "; $thrown", "\n";
    $job === null || $queue->queue->delete([$id]);
};
$try(fn() => throw new \DomainException('the certificate has expired'));
$try(fn() => null);
$try(fn() => 'no header');
$try(fn($job, $message) => preg_replace('/^Message-ID: </m', '$0other', $message));
$try(fn($job, $message) => "$message\0");
$try(fn($job, $message) => preg_replace('/^Message-ID: .*\r\n/m', '', $message));
$try(function ($job, $message) { echo "$job->reference for ", implode(' ', $job->recipients), ', ', strlen($message) > 100 ? 'composed' : '', ': '; return $message; },
    message: null, reference: 'r7', type: 'late');
$try(fn() => exit(0));
echo "not reached\n";
?>
--EXPECT--
-- openssl_pkcs7_sign
mailqueue: 3 sent, 1 to be tried later; nothing more is due.
text: 451 4.3.0 later, stored as it was: true
mailqueue: 1 sent; nothing more is due.
text: verified by openssl cms, body same, fields kept
parts: verified by openssl cms, body same, fields kept
raw: verified by openssl cms, body same, fields kept
no MIME: verified by openssl cms, body same, fields kept
4 verified by python3-dkim
array(0) {
}
-- openssl_cms_sign
mailqueue: 3 sent, 1 to be tried later; nothing more is due.
text: 451 4.3.0 later, stored as it was: true
mailqueue: 1 sent; nothing more is due.
text: verified by openssl cms, body same, fields kept
parts: verified by openssl cms, body same, fields kept
raw: verified by openssl cms, body same, fields kept
no MIME: verified by openssl cms, body same, fields kept
4 verified by python3-dkim
array(0) {
}
-- what fails is tried later, and never goes unsigned
failed 1 sign: DomainException: the certificate has expired
failed 1 sign: must return the message as a string
failed 1 sign: message: line 1: the message does not begin with a header "Name: value"
failed 1 sign: the message has another Message-ID; keep the one that it had
failed 1 sign: message: line 11: it has a NUL; encode the part as base64
sent
r7 for ann@example.net, composed: sent
exit: pending 0
