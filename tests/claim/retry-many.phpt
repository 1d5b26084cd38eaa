--TEST--
retryFailed() of very many: in several transactions, which end also if mail fails again meanwhile; in the application's transaction, all in that
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

const MAILS = 1300;

/** All failed, but every third is parked, and every sixth as held by a person. */
function fill(PDO $pdo): void
{
    $row = "(%d, 'mail', '%s', %s, 0, 3, 1, 1, '<x>', '[\"m%1\$d@example.net\"]')";
    $pdo->exec('INSERT INTO mail_queue (id, mail_type, status, parked_for, priority, attempts, next_attempt_at, created_at, message_id, recipients) VALUES '
        . implode(',', array_map(fn(int $id) => sprintf($row, $id, $id % 3 ? 'failed' : 'parked', $id % 3 ? 'NULL' : ($id % 6 ? "'exhausted'" : "'hold'")), range(1, MAILS))));
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    fill($pdo);
    $states = function () use ($pdo): string {
        $count = $pdo->query('SELECT status, count(*) FROM mail_queue GROUP BY status ORDER BY status')->fetchAll(PDO::FETCH_KEY_PAIR);
        return json_encode($count) . ($pdo->query("SELECT count(*) FROM mail_queue WHERE status = 'pending' AND attempts > 0")->fetchColumn() ? ' attempts' : '');
    };
    $break = $backend->refuse('mail_queue', 'attempts', 'OLD.id = 1250');
    echo thrown(fn() => $queue->retryFailed()) === 'nothing' ? 'no error' : 'broke off', "\n";
    // Of each six mails, five are brought back, 500 at a time: so those up to 1,200.
    echo $states(), "\n";
    $break();
    echo $queue->retryFailed(), ' ', $states(), ' ', $queue->retryFailed(), "\n";
    $pdo->exec("UPDATE mail_queue SET status = 'failed', attempts = 1 WHERE id % 6 <> 0");
    if ($backend->name !== 'native') {
        $own = $backend->pdo();
        $joined = new MailQueue($own);
        $own->beginTransaction();
        $count = $joined->retryFailed();
        $own->rollBack();
    }
    echo $count ?? 1084, ' ', $states(), "\n";
});

// A relay that refuses each mail at once.
$queue = new MailQueue($path = database());
$pdo = new PDO("sqlite:$path");
fill($pdo);
$pdo->exec("CREATE TRIGGER again AFTER UPDATE OF status ON mail_queue WHEN NEW.status = 'pending' BEGIN UPDATE mail_queue SET status = 'failed' WHERE id = NEW.id; END");
echo $queue->retryFailed(), ' ', $queue->stats()->failed, "\n";
?>
--EXPECT--
broke off
{"failed":67,"parked":233,"pending":1000}
84 {"parked":216,"pending":1084} 0
1084 {"failed":1084,"parked":216}
1084 1084
