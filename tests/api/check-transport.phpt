--TEST--
checkTransport() returns the transport without secrets, or throws what runWorker() would; it creates nothing
--EXTENSIONS--
mailqueue
--INI--
open_basedir=
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

$dir = temp_directory();
foreach (['smtp://me:s3cret@mail.example.org:587?tls=required', 'SMTPS://mail.example.org', 'smtp://[2001:db8::1]:25', 'null://null', "file://$dir/none", 'sendmail://default?command=/bin/true%20-x%20s3cret'] as $dsn) {
    echo str_replace($dir, '%', MailQueue::checkTransport($dsn)), "\n";
}
echo file_exists("$dir/none") ? "made!\n" : '';
echo MailQueue::checkTransport('smtp://h?final_timeout=1000', 1001), "\n";
$queue = new MailQueue("$dir/app.sqlite");
foreach (['smtp://h:99999', 'smtp://u:s3cret@h?foo=1', 'smtp://h?tls=wat', 'null://null?x=1', 'smtp://h?final_timeout=1000', 'file://none', 'sendmail://default?command=x', 'ftp://h', '', "smtp://h\0"] as $dsn) {
    foreach ([static fn() => MailQueue::checkTransport($dsn), static fn() => $queue->runWorker($dsn, log: '')] as $i => $call) {
        try {
            $said[$i] = $call();
        } catch (ValueError $e) {
            $said[$i] = preg_replace('/^\S+ Argument #\d+ /', '', $e->getMessage());
        }
    }
    echo $said[0] === $said[1] ? 'the same: ' : 'differs: ', substr($said[0], 0, 60), "\n";
}
try {
    MailQueue::checkTransport('null://null', 4);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
smtp://me:***@mail.example.org:587
smtps://mail.example.org
smtp://[2001:db8::1]:25
null://null
file://%/none
sendmail://default?command=/bin/true%20***
smtp://h
the same: ($transport) cannot be used: transport: what follows :// mus
the same: ($transport) cannot be used: transport: unknown option "foo"
the same: ($transport) cannot be used: transport: option tls must be a
the same: ($transport) cannot be used: transport: unknown option "x"; 
the same: ($lease) must be longer than the transport waits for the rep
the same: ($transport) cannot be used: transport: file:// takes a dire
the same: ($transport) cannot be used: transport: the command must beg
the same: ($transport) cannot be used: transport: it does not begin wi
the same: ($transport) cannot be used: transport: it does not begin wi
the same: ($transport) cannot be used: transport: there is a control c
MailQueue::checkTransport(): Argument #2 ($lease) must be between 5 and 86400
