--TEST--
phpinfo() shows the libraries' versions and never the transport's password
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

function info(string ...$settings): string
{
    $options = [];
    foreach ($settings as $setting) {
        array_push($options, '-d', $setting);
    }
    $process = proc_open(php_command(...$options, ...['--ri', 'mailqueue']), [1 => ['pipe', 'w']], $pipes);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return trim(preg_replace('/\d+\.\d+\.\d+/', 'N.N.N', $text));
}
echo info(), "\n\n";
$secret = info('mailqueue.transport=smtp://me:s3cret@mail.example.org:587', 'mailqueue.max_message_size=2M');
var_dump(str_contains($secret, 's3cret'));
echo implode("\n", preg_grep('/transport|max_message/', explode("\n", $secret))), "\n";
$broken = info('mailqueue.transport=nonsense://me:s3cret@x');
var_dump(str_contains($broken, 's3cret'));
echo implode("\n", preg_grep('/transport/', explode("\n", $broken))), "\n";
$group = info('mailqueue.transport="failover(smtp://me:s3cret@a.example smtp://b.example?tls=none&ehlo=c)?retry_period=5"');
var_dump(str_contains($group, 's3cret'));
echo implode("\n", preg_grep('/transport/', explode("\n", $group))), "\n";
// Seen to fail with OnUpdateLongGEZero alone: "foo" was 0, no limit.
foreach (['foo', '', '-1', '0', '" 7K"'] as $value) {
    $said = info("mailqueue.max_message_size=$value");
    echo "size '$value': ", implode(' | ', preg_grep('/max_message/', explode("\n", $said))), "\n";
}
?>
--EXPECTF--
mailqueue

mailqueue support => enabled
mailqueue version => N.N.N
SQLite version => N.N.N
libcurl version => N.N.N
internationalised domains (libidn2) => %s
text from HTML (libxml2) => %s
DKIM (OpenSSL) => %s

Directive => Local Value => Master Value
mailqueue.database => no value => no value
mailqueue.database_user => not set => not set
mailqueue.database_password => not set => not set
mailqueue.database_ssl_ca => no value => no value
mailqueue.database_persistent => Off => Off
mailqueue.transport => no value => no value
mailqueue.run_dir => no value => no value
mailqueue.accounts => no value => no value
mailqueue.max_message_size => 26214400 => 26214400
mailqueue.log => no value => no value
mailqueue.dkim => no value => no value
mailqueue.verdicts => no value => no value
mailqueue.redirect_to => no value => no value
mailqueue.allow_to => no value => no value
mailqueue.aliases => no value => no value
mailqueue.page_hash => not set => not set
mailqueue.page_bodies => no value => no value
mailqueue.page_proxies => no value => no value
mailqueue.capture_mail => Off => Off
mailqueue.capture_failure => fail => fail

bool(false)
mailqueue.transport => smtp://me:***@mail.example.org:587 => smtp://me:***@mail.example.org:587
mailqueue.max_message_size => 2M => 2M
bool(false)
mailqueue.transport => set, but not a DSN that can be used => set, but not a DSN that can be used
bool(false)
mailqueue.transport => failover(smtp://me:***@a.example smtp://b.example)?retry_period=5 => failover(smtp://me:***@a.example smtp://b.example)?retry_period=5
size 'foo': Warning: mailqueue.max_message_size must be a number of bytes (0: no limit), not "foo" in Unknown on line 0 | mailqueue.max_message_size => 26214400 => 26214400
size '': Warning: mailqueue.max_message_size must be a number of bytes (0: no limit), not "" in Unknown on line 0 | mailqueue.max_message_size => 26214400 => 26214400
size '-1': Warning: mailqueue.max_message_size must be a number of bytes (0: no limit), not "-1" in Unknown on line 0 | mailqueue.max_message_size => 26214400 => 26214400
size '0': mailqueue.max_message_size => 0 => 0
size '" 7K"': mailqueue.max_message_size =>  7K =>  7K
