--TEST--
Workers beside each other on a campaign: one waits while another one feeds it, but not for one that starts later; pause() and cancel() act at once on workers in the middle of it
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('pgsql', 'mysql'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';

// Works on the queue argv[1]; each mail takes 2 ms and leaves a line in the file argv[2].
const WORKER = <<<'PHP'
$report = (new MailQueue($argv[1]))->runWorker(function (MailQueue\Job $job) use ($argv): void {
    file_put_contents($argv[2], "$job->id\n", FILE_APPEND | LOCK_EX);
    usleep(2000);
}, log: '', batch: 10, maxWorkers: 4);
echo "$report->end $report->sent\n";
PHP;

putenv('XDG_STATE_HOME=' . temp_directory());
$directory = temp_directory();

/** A campaign with so many recipients, which runs. */
function campaign(Backend $backend, string $name, int $count, ?int $at = null): MailQueue\Campaign
{
    $campaign = $backend->queue()->campaign($name);
    $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello']);
    $campaign->add((function () use ($count): iterable {
        for ($i = 0; $i < $count; $i++) {
            yield "ann$i@example.com";
        }
    })());
    $campaign->start($at);
    return $campaign;
}

on_backends(['pgsql', 'mysql'], function (Backend $backend) use ($directory): void {
    campaign($backend, 'fed by another one', 10);
    $other = $backend->pdo();
    $other->beginTransaction();
    $other->query('SELECT id FROM mail_campaign FOR UPDATE')->fetchAll(); // as a worker that feeds it
    $worker = new Other(WORKER, $backend->dsn, "$directory/$backend->name.first");
    must(wait_until(fn() => $backend->queue()->diagnostics()['workers'] === 1), 'it works');
    sleep(1);
    echo $backend->queue()->diagnostics()['workers'], " waits\n";
    $other->commit();
    echo $worker->end()[0];

    campaign($backend, 'tomorrow', 0, time() + 86400);
    $other->beginTransaction();
    $other->query('SELECT id FROM mail_campaign FOR UPDATE')->fetchAll(); // as an application that adds recipients
    echo 'for later: ', $backend->queue()->runWorker('null://null', log: '', timeLimit: 5)->end, "\n";
    $other->rollBack();
});

on_backends(['sqlite', 'pgsql', 'mysql'], function (Backend $backend) use ($directory): void {
    foreach (['pause', 'cancel'] as $act) {
        $campaign = campaign($backend, $act, 2000);
        $file = "$directory/$backend->name.$act";
        $lines = fn(): int => count(@file($file) ?: []);
        $workers = [new Other(WORKER, $backend->dsn, $file), new Other(WORKER, $backend->dsn, $file)];
        $gone = 0;
        must(wait_until(function () use ($backend, $campaign, $lines, &$gone): bool {
            $gone = max($gone, $campaign->progress()['gone'], $backend->queue()->campaigns(1)[0]['gone']);
            return $lines() > 500;
        }), 'they send');
        must($gone === 0, 'what is sent while progress() reads is not shown as deleted');
        $campaign->$act();
        $most = $campaign->progress()['sending'] + $lines(); // one can be in both, none in neither
        array_map(fn(Other $worker) => $worker->end(), $workers);
        $of = $campaign->progress();
        must($lines() <= $most, "$act(): none is claimed after it: {$lines()} of at most $most");
        must($of['sent'] === $lines() && $of['sending'] === 0, 'each is counted');
        echo "$act: $of[state], ", $of['sent'] < 2000 ? 'in the middle' : 'too late', ', ',
            $act === 'cancel' || $of['sent'] + $of['held'] + $of['waiting'] === 2000 ? '' : 'not ', "complete\n";
    }
});
?>
--EXPECT--
1 waits
empty 10
for later: empty
pause: paused, in the middle, complete
cancel: cancelled, in the middle, complete
