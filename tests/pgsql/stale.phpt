--TEST--
PostgreSQL: the look for a worker is a few requests of its own; within the application's transaction there is none; a failure is not one of enqueue()
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--INI--
sys_temp_dir={PWD}
log_errors=1
--FILE--
<?php
require __DIR__ . '/../lib/round_trips.inc';
$server = new RoundTrips('pgsql');
ini_set('error_log', $log = temp_directory() . '/log');
$files = glob(__DIR__ . '/mailqueue-*/stale-*');
$pdo = $server->pdo();
$queue = new MailQueue($pdo);
$queue->enqueue(mail_fields());
[$file] = glob(__DIR__ . '/mailqueue-*/stale-*');
/* Another queue's look is due each time, because this process remembers the last one. */
$other = new MailQueue($pdo, table: 'other');
$other->enqueue(mail_fields());
$due = function () use ($file, $other): void {
    touch($file, time() - 1);
    $other->enqueue(mail_fields());
};
$said = function () use ($log): string {
    $text = preg_replace('/^\[[^]]*\] /', '', (string) @file_get_contents($log)) ?: "nothing said\n";
    @unlink($log);
    return $text;
};
$pdo->exec('UPDATE mail_queue SET next_attempt_at = next_attempt_at - 3700');
$show = function (string $what) use ($server, $queue): void {
    $server->show($what, fn() => $queue->enqueue(mail_fields()) ?? print("no id\n"));
};

$show('too early');
$due();
$pdo->beginTransaction();
$show("the application's transaction");
$pdo->commit();
echo $said();
$due();
$show('due');
echo $said();
$pdo->exec('ALTER TABLE config RENAME TO hidden');
$due();
$show('the question fails');
echo $said();
$pdo->exec('ALTER TABLE hidden RENAME TO config');
?>
--CLEAN--
<?php
foreach (glob(__DIR__ . '/mailqueue-*/stale-*') as $file) {
    unlink($file);
}
array_map(rmdir(...), glob(__DIR__ . '/mailqueue-*'));
?>
--EXPECT--
too early: 1
  execute WITH job AS
the application's transaction: 4
  statement SAVEPOINT mailqueue_guard
  parse WITH job AS
  execute WITH job AS
  statement RELEASE mailqueue_guard
nothing said
due: 4
  execute WITH job AS
  execute SELECT CAST value
  execute SELECT SELECT id
  execute WITH RECURSIVE waits
mailqueue: mail is due, but no worker has run yet: start bin/mailqueue work by cron; `mailqueue doctor` names the cause (mailStaleAfter 0 turns this line off)
the question fails: 1
  execute WITH job AS
nothing said
