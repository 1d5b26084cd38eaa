--TEST--
migrate-store from SQLite to PostgreSQL and from MariaDB to SQLite: killed at any time, while workers send on both sides and the application stores mail; each mail is sent once
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
/* MAILQUEUE_KILLS sets how often each one is killed (8). */
require __DIR__ . '/copy.inc';

const MAIL = 'function numbered(string $id): string {
    return "From: a@example.org\r\nTo: b@example.org\r\nX-Id: $id\r\n\r\n" . str_repeat("text\r\n", 300);
}';
eval(MAIL);
$kills = (int) (getenv('MAILQUEUE_KILLS') ?: 8);
mt_srand(4711);
foreach ([['sqlite', 'pgsql'], ['mysql', 'sqlite']] as [$one, $two]) {
    [$from, $to] = [new Backend($one), new Backend($two)];
    [$source, $target] = [$from->queue(), $to->queue()];
    $sent = temp_directory();
    $source->enqueueMany((static function () {
        for ($i = 0; $i < 3000; $i++) {
            yield ['message' => numbered("old-$i"), 'reference' => "old-$i"];
        }
    })());
    $producer = $from->other(MAIL . '
        $queue = $open();
        stream_set_blocking(STDIN, false);
        for ($i = 0; fgets(STDIN) === false; $i++) {
            $queue->enqueue(numbered("new-$i"), reference: "new-$i");
            usleep(4000);
        }
        echo "$i\n";');
    $worker = 'stream_set_blocking(STDIN, false);
        while (fgets(STDIN) === false) {
            $open()->runWorker("file://$arguments[0]", messageLimit: 3, timeLimit: 2);
            usleep(30_000);
        }
        echo "over\n";';
    $workers = [$from->other($worker, $sent), $to->other($worker, $sent)];
    $command = cli_command(['migrate-store', $from->dsn, $to->dsn]);
    $count = 0;
    for ($i = 0; $i < $kills; $i++) {
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, temp_home());
        usleep(mt_rand(80_000, 500_000));
        $count += proc_get_status($process)['running'] ? 1 : 0;
        proc_terminate($process, SIGKILL);
        proc_close($process);
    }
    for ($i = 0; $i < 10; $i++) {
        [$code, $output, $errors] = cli(['migrate-store', $from->dsn, $to->dsn]);
        if ($code === 0) {
            break;
        }
        must($code === 75, "exit $code $output $errors"); // a lock, while the others write
    }
    $producer->tell('stop');
    $stored = (int) $producer->line();
    $producer->end();
    [$code, $output, $errors] = cli(['migrate-store', $from->dsn, $to->dsn]); // late mail
    must($code === 0, "late: exit $code $output $errors");
    array_map(static fn(Other $one) => $one->tell('stop'), $workers);
    array_map(static fn(Other $one) => $one->end(), $workers);
    $target->runWorker("file://$sent");
    $source->runWorker("file://$sent");
    $ids = [];
    foreach (glob("$sent/new/*") as $file) {
        preg_match('/^X-Id: (\S+)/m', file_get_contents($file), $match);
        $ids[] = $match[1];
    }
    $twice = array_filter(array_count_values($ids), static fn(int $n): bool => $n > 1);
    $missing = array_diff([...array_map(static fn(int $i): string => "old-$i", range(0, 2999)),
        ...array_map(static fn(int $i): string => "new-$i", range(0, $stored - 1))], $ids);
    echo "$one to $two: ", $count > 0 ? 'killed' : "killed only $count times", ', ', $stored > 50 ? 'many stored meanwhile' : "$stored stored", ', ',
        count($missing), ' missing, ', count($twice), ' twice', $missing || $twice ? json_encode([array_slice($missing, 0, 5), array_slice($twice, 0, 5)]) : '', "\n";
}
?>
--EXPECT--
sqlite to pgsql: killed, many stored meanwhile, 0 missing, 0 twice
mysql to sqlite: killed, many stored meanwhile, 0 missing, 0 twice
