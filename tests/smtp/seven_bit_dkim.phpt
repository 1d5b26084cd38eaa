--TEST--
What is signed with DKIM is converted to 7 bits before, for relays with and without 8BITMIME
--EXTENSIONS--
posix
pdo_sqlite
mbstring
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
require dirname(__DIR__) . '/lib/eight_bit.inc';

const VERIFY = 'import sys, dkim
key = open(sys.argv[1]).read().strip().encode()
for name in sys.argv[2:]:
    if not dkim.verify(open(name, "rb").read(), dnsfunc=lambda *a, **k: b"v=DKIM1; k=rsa; p=" + key):
        print(name, "does not verify")
print(len(sys.argv) - 2, "looked at")';

$keys = temporary_directory('keys');
run(['openssl', 'genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out',
    "$keys/key.pem"]);
chmod("$keys/key.pem", 0600);
run(['openssl', 'pkey', '-in', "$keys/key.pem", '-pubout', '-out', "$keys/public.pem"]);
file_put_contents("$keys/public", preg_replace('/-----.*-----|\s/', '',
    file_get_contents("$keys/public.pem")));

function try_relay(string $name, string $keys, array $options): void
{
    // The first connection dies after MAIL, so that some mails are begun twice.
    $sink = new Sink('at rcpt times=2 close', $options);
    $queue = new TestQueue();
    $stored = [];
    foreach (eight_bit_mails() as $test => $mail) {
        $queue->add($test, ["$test@example.org"], $mail);
        $stored[$test] = $queue->queue->job($queue->ids[$test])->message;
    }
    for ($run = 0; $run < 2; $run++) {
        $queue->work("smtp://127.0.0.1:$sink->port", connections: 2,
            dkim: "example.com:k:$keys/key.pem");
        $queue->timePasses();
    }
    $unsigned = preg_replace('/\ADKIM-Signature: .*\r\n(?:[ \t].*\r\n)*/', '', $sink->saved());
    echo "-- $name: ", same_octets($stored, $unsigned);
    echo run(['python3', '-c', VERIFY, "$keys/public", ...glob($sink->path('saved') . '/*.eml')]);
    var_dump($sink->violations());
}

try_relay('no 8BITMIME', $keys, ['--no-8bitmime']);
try_relay('8BITMIME', $keys, []);
?>
--EXPECT--
-- no 8BITMIME: 51 received, bad: 0
51 looked at
array(0) {
}
-- 8BITMIME: 51 received, bad: 0
51 looked at
array(0) {
}
