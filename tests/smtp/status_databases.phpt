--TEST--
Delivery status notifications are kept on each database
--EXTENSIONS--
posix
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php
require dirname(__DIR__) . '/lib/backends.inc';
echo backends_missing('pgsql', 'mysql') ?: MailQueueTest\missing('/usr/sbin/smtp-sink');
?>
--FILE--
<?php
require dirname(__DIR__) . '/lib/backends.inc';
require_once dirname(__DIR__) . '/lib/servers.inc';

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $mail = ['message' => "Subject: x\r\n\r\nx\r\n", 'envelopeFrom' => 'me@example.com'];
    $queue->enqueue(...$mail, recipients: ['a@example.org'],
        dsn: ['notify' => ['success', 'delay'], 'ret' => 'hdrs', 'envid' => "q+1\\'\""]);
    $queue->enqueueMany([['recipients' => ['b@example.org'], 'dsn' => ['notify' => 'never']] + $mail,
        ['recipients' => ['c@example.org']] + $mail]);
    $fields = $backend->pdo()->query('SELECT fields FROM mail_queue ORDER BY id')->fetchAll(PDO::FETCH_COLUMN);
    echo implode("\n", array_map(json_encode(...), $fields)), "\n";
    $server = new MailQueueTest\SmtpSink();
    $report = $queue->runWorker("smtp://127.0.0.1:$server->port", connections: 1, log: '', timeLimit: 150);
    echo "$report->sent sent\n";
    echo implode("\n", MailQueueTest\wait_for('3 mails',
        fn() => count($server->envelopes()) >= 3 ? $server->envelopes() : null)), "\n";
});
?>
--EXPECT--
"{\"dsn\":\"NOTIFY=SUCCESS,DELAY RET=HDRS ENVID=q+1\\\\'\\\"\"}"
"{\"dsn\":\"NOTIFY=NEVER\"}"
null
3 sent
<me@example.com> RET=HDRS ENVID=q+2B1\'" | <a@example.org> NOTIFY=SUCCESS,DELAY
<me@example.com> | <b@example.org> NOTIFY=NEVER
<me@example.com> | <c@example.org>
