--TEST--
Several processes on one queue: tables are created once, no job is claimed twice, the limit applies to all together
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
const START = '$pdo = new PDO($argv[1], null, null, [PDO::ATTR_TIMEOUT => 300]); fgets(STDIN); $queue = new MailQueue($pdo);';
const CLAIM = START . '
    $limit = (int) $argv[2];
    do {
        $jobs = $queue->claim($limit);
        foreach ($jobs as $job) { echo $job->id, "\n"; must($queue->complete($job), "the lease stands"); }
    } while ($jobs);
    echo "end\n";';
/** @return array<string> the output of each process; all start at the same time */
function together(int $count, string $code, string ...$arguments): array
{
    $all = [];
    for ($i = 0; $i < $count; $i++) {
        $all[] = new Other($code, ...$arguments);
    }
    array_map(fn(Other $one) => $one->tell('go'), $all);
    return array_map(fn(Other $one) => $one->end()[0], $all);
}
on_backends(['sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    echo implode('', together(3, START . 'echo $queue->migrate(), " ", $queue->stats()->pending, "\n";', $backend->dsn));

    $queue = $backend->queue();
    $mails = fn(int $n): array => array_map(fn($i) => ['message' => mail_fields(), 'priority' => $i % 3], range(1, $n));
    $queue->enqueueMany($mails(300));
    $ids = explode("\n", trim(implode('', together(3, CLAIM, $backend->dsn, '7'))));
    $claimed = array_diff($ids, ['end']);
    echo count($claimed), ' claims of ', count(array_unique($claimed)), " jobs, ", count($ids) - count($claimed), " processes ended well\n";
    echo $queue->stats()->pending, ' pending, ', $queue->stats()->sending, " in sending\n";

    foreach (['strict', 'average', 'strict windows', 'average windows'] as $mode) {
        $queue->enqueueMany($mails(100));
        $windows = str_ends_with($mode, 'windows');
        foreach (['mailMaxPerHour' => $windows ? 0 : 40, 'mailLimits' => $windows ? "40/1h per sender, 70/4h, 40/2h mails" : null,
            'mailBurst' => 40, 'mailTokens' => null, 'mailRateMode' => strtok($mode, ' ')] as $key => $value) {
            $queue->setConfig($key, $value);
        }
        $ids = array_diff(explode("\n", trim(implode('', together(3, CLAIM, $backend->dsn, '3')))), ['end']);
        echo "$mode: ", count($ids), ' claims of ', count(array_unique($ids)), " jobs\n";
        $queue->setConfig('mailMaxPerHour', 0);
        $queue->setConfig('mailLimits', null);
        $queue->delete(array_map(fn($job) => $job->id, $queue->jobs(limit: 1000)));
    }
});
?>
--EXPECT--
6 0
6 0
6 0
300 claims of 300 jobs, 3 processes ended well
0 pending, 0 in sending
strict: 40 claims of 40 jobs
average: 40 claims of 40 jobs
strict windows: 40 claims of 40 jobs
average windows: 40 claims of 40 jobs
