--TEST--
A backlog of a slow relay holds up no other relay's mail, and is passed over through the index
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

final class Noting extends PDO
{
    public string $behind = '';

    #[ReturnTypeWillChange]
    public function prepare($query, $options = [])
    {
        $this->behind = preg_match('/next_attempt_at(, id\))? >/', $query) ? $query : $this->behind;
        return parent::prepare($query, $options);
    }
}

putenv('XDG_STATE_HOME=' . temp_directory());
on_backends(['pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $mails = fn(string $from, int $count): array => array_map(fn() => ['message' => mail_fields(from: $from)], range(1, $count));
    for ($i = 0; $i < 10; $i++) {
        $queue->enqueueMany($mails('f@one.example', 500));
    }
    $queue->enqueueMany($mails('f@other.example', 1));
    $pdo = new Noting($backend->dsn);
    $other = [];
    $report = (new MailQueue($pdo))->runWorker(fn() => usleep(20000), log: '', timeLimit: 12, relays: ['@other.example' => 'null://null'],
        onEvent: function (array $event) use (&$other): void {
            if ($event['relay'] === 'null://null' && $event['event'] === 'sent') {
                $other[] = $event['id'];
            }
        });
    var_dump(count($other), $report->sent < 1000);
    /* The rows before the place are not read, though all are due in the same few seconds. */
    $look = $backend->pdo([PDO::ATTR_EMULATE_PREPARES => false]);
    [$priority, $due, $id] = $look->query('SELECT priority, next_attempt_at, id FROM mail_queue ORDER BY id DESC LIMIT 1 OFFSET 500')->fetch(PDO::FETCH_NUM);
    $shared = [$priority, time(), $due];
    if ($backend->name === 'pgsql') {
        $look->exec('ANALYZE mail_queue');
        $plan = $look->prepare("EXPLAIN $pdo->behind");
        $plan->execute([...$shared, $id, 128]);
        var_dump((bool) preg_grep('/Index Cond: .*ROW\(next_attempt_at, id\) >/', $plan->fetchAll(PDO::FETCH_COLUMN)));
    } else {
        $look->query('ANALYZE TABLE mail_queue')->fetchAll();
        $look->exec('FLUSH STATUS');
        $rows = $look->prepare($pdo->behind);
        $rows->execute([...$shared, $due, $id, 128]);
        $rows->fetchAll();
        $read = array_sum($look->query("SHOW SESSION STATUS LIKE 'Handler_read%'")->fetchAll(PDO::FETCH_KEY_PAIR));
        var_dump($read < 400); // a comparison of rows read 4,499
    }
});
?>
--EXPECT--
int(1)
bool(true)
bool(true)
