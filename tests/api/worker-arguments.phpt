--TEST--
runWorker(): arguments out of range, a missing or unusable transport, a log that cannot be written
--EXTENSIONS--
mailqueue
--INI--
sendmail_path=
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$queue = new MailQueue($path);
$id = $queue->enqueue(mail_fields());
mkdir(dirname($path) . '/directory');
symlink('/dev/null', dirname($path) . '/link.log');
foreach ([
    'no transport' => ['transport' => null],
    'empty transport' => ['transport' => ''],
    'unknown scheme' => ['transport' => 'ftp://localhost'],
    'no scheme' => ['transport' => 'localhost'],
    'unknown option' => ['transport' => 'smtp://localhost?colour=red'],
    'bad option' => ['transport' => 'smtp://localhost?tls=perhaps'],
    'bad port' => ['transport' => 'smtp://localhost:99999'],
    'bad encoding' => ['transport' => 'smtp://a%zz@localhost'],
    'callable name' => ['transport' => 'strlen'],
    'array' => ['transport' => ['x', 'y']],
    'compose' => ['compose' => 'no_such_function'],
    'connections' => ['connections' => 0],
    'connections, many' => ['connections' => 1001],
    'batch' => ['batch' => 0],
    'lease' => ['lease' => 4],
    'lease and final timeout' => ['transport' => 'smtp://localhost', 'lease' => 600],
    'lease and a longer final timeout' => ['transport' => 'smtp://localhost?final_timeout=900'],
    'time limit' => ['timeLimit' => 0],
    'message limit' => ['messageLimit' => -1],
    'max workers' => ['maxWorkers' => 65],
    'grace' => ['grace' => -1],
    'on uncertain' => ['onUncertain' => 'retry'],
    'log, NUL' => ['log' => "/tmp/x\0y"],
    'log, a directory' => ['log' => dirname($path) . '/directory'],
    'log, no directory' => ['log' => dirname($path) . '/no/such/x.log'],
    'log, a link' => ['log' => dirname($path) . '/link.log'],
    'on event' => ['onEvent' => 5],
    'dkim' => ['dkim' => 'example.org'],
    'max bytes' => ['maxBytes' => 0],
] as $what => $arguments) {
    echo "$what: ", thrown(fn() => $queue->runWorker(...$arguments + ['transport' => 'null://null', 'log' => '']), dirname($path)), "\n";
}
echo $queue->job($id)->attempts, " attempts\n";
$dsn = fn(int $final, int $lease) => thrown(fn() => $queue->runWorker("smtp://localhost:1?final_timeout=$final", lease: $lease, log: ''));
echo $dsn(10, 10) === 'nothing' ? 'taken' : 'refused', ' ', $dsn(10, 11) === 'nothing' ? 'taken' : 'refused', "\n";
/* The limits that the command line knows are those of runWorker(). */
foreach (array_diff_key(MailQueue\Internal::limits(), ['recipients' => 0, 'maxBytes' => 0]) as $name => [$least, $most]) {
    $below = thrown(fn() => $queue->runWorker(...['transport' => 'null://null', $name => $least - 1]));
    $above = thrown(fn() => $queue->runWorker(...['transport' => 'null://null', $name => $most + 1]));
    echo "$name ", $below === $above && str_ends_with($below, "between $least and $most") ? 'agree' : "differ: $below, $above", "\n";
}
?>
--EXPECT--
no transport: MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: sendmail:// has no program: set sendmail_path in php.ini, or write sendmail://default?command=/usr/sbin/sendmail%20-t%20-i)
empty transport: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
unknown scheme: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
no scheme: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
unknown option: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: unknown option "colour"; smtp:// has tls, cafile, verify_peer, ehlo, source_ip, family, proxy, pipelining, connect_timeout, command_timeout, data_timeout, block_timeout, final_timeout, idle_timeout, max_mails, auth, account, connections
bad option: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: option tls must be auto, none or required
bad port: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: what follows :// must be host, host:port or user:password@host:port, without path or fragment; the port is 1 to 65535, IPv6 is [2001:db8::1], non-ASCII hosts are A-labels (xn--...); in user and password write : / @ ? # % as %3A %2F %40 %3F %23 %25
bad encoding: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: "%" needs two hex digits after it; write "%" as %25
callable name: ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
array: TypeError: MailQueue::runWorker(): Argument #1 ($transport) must be of type Closure|string|null, array given
compose: TypeError: MailQueue::runWorker(): Argument #2 ($compose) must be a valid callback or null, function "no_such_function" not found or invalid function name
connections: ValueError: MailQueue::runWorker(): Argument #3 ($connections) must be between 1 and 1000
connections, many: ValueError: MailQueue::runWorker(): Argument #3 ($connections) must be between 1 and 1000
batch: ValueError: MailQueue::runWorker(): Argument #4 ($batch) must be between 1 and 1000
lease: ValueError: MailQueue::runWorker(): Argument #5 ($lease) must be between 5 and 86400
lease and final timeout: ValueError: MailQueue::runWorker(): Argument #5 ($lease) must be longer than the transport waits for the reply to the final dot (600 seconds): raise it, or lower final_timeout in the DSN
lease and a longer final timeout: ValueError: MailQueue::runWorker(): Argument #5 ($lease) must be longer than the transport waits for the reply to the final dot (900 seconds): raise it, or lower final_timeout in the DSN
time limit: ValueError: MailQueue::runWorker(): Argument #6 ($timeLimit) must be between 1 and 31622400
message limit: ValueError: MailQueue::runWorker(): Argument #7 ($messageLimit) must be between 1 and 1000000000
max workers: ValueError: MailQueue::runWorker(): Argument #8 ($maxWorkers) must be between 1 and 64
grace: ValueError: MailQueue::runWorker(): Argument #9 ($grace) must be between 0 and 3600
on uncertain: TypeError: MailQueue::runWorker(): Argument #11 ($onUncertain) must be of type MailQueue\OnUncertain, string given
log, NUL: ValueError: MailQueue::runWorker(): Argument #12 ($log) must not contain any null bytes
log, a directory: MailQueue\DatabaseException [cantopen]: cannot open the log file %/directory: Is a directory; give a file whose directory exists and is writable (MAIL_QUEUE_LOG or the option log)
log, no directory: MailQueue\DatabaseException [cantopen]: cannot open the log file %/no/such/x.log: No such file or directory; give a file whose directory exists and is writable (MAIL_QUEUE_LOG or the option log)
log, a link: MailQueue\DatabaseException [cantopen]: the log file %/link.log is a symbolic link; give the file itself
on event: TypeError: MailQueue::runWorker(): Argument #13 ($onEvent) must be a valid callback or null, no array or string given
dkim: MailQueue\Exception: dkim: "example.org" is not a key; write domain:selector:/path/to/key.pem
max bytes: ValueError: MailQueue::runWorker(): Argument #15 ($maxBytes) must be between 1 and 2305843009213693951
0 attempts
refused taken
connections agree
batch agree
lease agree
timeLimit agree
messageLimit agree
maxWorkers agree
grace agree
