--TEST--
The subject: decoded, in Job, list, show and with --verbose in the log; tables of version 1 get its column
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/cli.inc';

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $queue->enqueue(mail_fields(subject: 'Grüße, 你好'));
    $queue->enqueue("From: a@example.org\r\nTo: b@example.org\r\nSubject: =?utf-8?Q?raw_=C3=A9=1B[31m?=\r\n\r\nx\r\n");
    $queue->enqueue("From: a@example.org\r\nTo: b@example.org\r\n\r\nx\r\n");
    $queue->enqueue(null, 'later');
    $queue->enqueueMany([['message' => mail_fields(subject: str_repeat('é', 400))], ['message' => mail_fields(subject: '')]]);
    foreach ($queue->jobs() as $job) {
        echo $job->subject === null ? 'null' : mb_strlen($job->subject) . ' ' . mb_substr($job->subject, 0, 20), "\n";
    }
    echo $queue->claim()[0]->subject, "\n";

    echo "version 1\n";
    $old = $backend->another();
    $first = $old->queue();
    $first->enqueue(mail_fields(), 'before');
    $pdo = $old->pdo();
    $key = $backend->name === 'mysql' ? '`key`' : 'key';
    $pdo->exec('ALTER TABLE mail_queue DROP COLUMN subject');
    $pdo->exec("UPDATE config SET value = '1' WHERE $key = 'mailSchemaVersion'");
    $new = $old->queue();
    $new->enqueue(mail_fields(subject: 'after'), 'after');
    echo $new->config('mailSchemaVersion'), ' ', json_encode(array_map(fn($job) => [$job->reference, $job->subject], $new->jobs())), "\n";
    echo 'a connection from before: ', $first->enqueue(mail_fields(subject: 'again')) > 0 ? 'stores' : 'does not', ' and claims ', count($first->claim(10)), "\n";
});

foreach (['pgsql', 'mysql'] as $name) {
    $backend = new Backend($name);
    (new MailQueue($backend->dsn))->migrate();
    $pdo = $backend->pdo();
    $pdo->exec('ALTER TABLE mail_queue DROP COLUMN subject');
    $pdo->exec('UPDATE config SET value = \'1\' WHERE ' . ($name === 'mysql' ? '`key`' : 'key') . " = 'mailSchemaVersion'");
    echo "$name, over a DSN: ", (new MailQueue($backend->dsn))->enqueue(mail_fields(subject: 'own')), ' ', $pdo->query('SELECT subject FROM mail_queue')->fetchColumn(), "\n";
}

$path = database();
$queue = new MailQueue($path);
$queue->enqueue(mail_fields(subject: "Grüße und ein Betreff, der für die Liste zu lang ist"));
$queue->enqueue("From: a@example.org\r\nTo: b@example.org\r\nSubject: =?utf-8?Q?=1B]0;x=07_y=FF?=\r\n\r\nx\r\n");
$environment = ['MAILQUEUE_DATABASE' => $path, 'MAILQUEUE_TRANSPORT' => 'null://null'];
foreach (explode("\n", cli(['list'], $environment)[1]) as $line) {
    echo preg_replace('/^.*(example\.\w+) +mail +(\S+) +/', '$2 ', rtrim($line)), "\n";
}
echo preg_match('/^subject .*/m', cli(['show', '2'], $environment)[1], $match) ? "$match[0]\n" : '';
$log = dirname($path) . '/log';
cli(['work', "--log=$log", '--message-limit=1'], $environment);
cli(['work', "--log=$log", '--verbose'], $environment);
$queue->enqueue(mail_fields());
foreach (file($log) as $line) {
    $event = json_decode($line, true);
    $event['event'] === 'sent' && print($event['id'] . ' ' . ($event['subject'] ?? 'no subject') . "\n");
    must($event['event'] === 'sent' || !isset($event['subject']), 'nowhere else');
}
?>
--EXPECT--
9 Grüße, 你好
10 raw é?[31m
null
null
255 éééééééééééééééééééé
0 
Grüße, 你好
version 1
6 [["before",null],["after","after"]]
a connection from before: stores and claims 3
pgsql, over a DSN: 1 own
mysql, over a DSN: 1 own
id  status   tries  next  recipients       type  reference  subject
- Grüße und ein Betreff, der für die Li...
- ?]0;x? y�

subject         ?]0;x? y�
1 no subject
2 ?]0;x? y�
