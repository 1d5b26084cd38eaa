--TEST--
retryFailed() brings mails back and lets the campaign run for them in one transaction: if it breaks off in any place, another call completes it; MailQueue::retryFailed() lets it run again, too
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

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $campaign = $queue->campaign('spring');
    $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello']);
    $campaign->add((function (): iterable {
        for ($i = 0; $i < 600; $i++) {
            yield "ann@n$i.example"; // a domain that refuses many is slowed down
        }
    })());
    $campaign->start();
    $shown = function (string $what) use ($campaign): void {
        $of = array_filter(array_intersect_key($campaign->progress(), array_flip(['state', 'pending', 'sent', 'refused'])));
        echo "$what: ", implode(' ', array_map(fn(string $key, mixed $value): string => "$key=$value", array_keys($of), $of)), "\n";
    };
    $breaks = function (string $what, string ...$refused) use ($backend, $campaign, $shown): void {
        $end = $backend->refuse(...$refused);
        try {
            echo $campaign->retryFailed(), " brought back\n";
        } catch (MailQueue\DatabaseException) {
            $shown($what);
        }
        $end();
    };
    $calls = 0;
    $work = function (bool $refuses) use ($queue, &$calls): void {
        $queue->runWorker(function () use ($refuses): void {
            $refuses && throw new MailQueue\RefusedException('no such user', 550);
        }, log: '', onFinished: function () use (&$calls): void {
            $calls++;
        });
    };
    $work(true);
    $shown('refused');
    $breaks('the first ones', 'mail_campaign', 'state');
    $breaks('the last ones', 'mail_queue', 'status', 'OLD.id = ' . $campaign->failures(1000)[550]->id);
    echo $campaign->retryFailed(), ' ', $campaign->retryFailed(), "\n";
    $shown('again');
    $work(false);
    $shown('sent');
    echo "$calls call\n";

    $campaign->add(['last@example.org']);
    $work(true);
    $shown('one more');
    $queue->retryFailed([$campaign->failures()[0]->id]);
    $shown('by the queue');
    $campaign->pause();
    echo $campaign->progress()['held'], ' held by ', $campaign->progress()['state'], "\n";
    $campaign->resume();
    $work(false);
    $shown('sent');
    echo "$calls call\n";
});
?>
--EXPECT--
refused: state=finished refused=600
the first ones: state=finished refused=600
the last ones: state=running pending=500 refused=100
100 0
again: state=running pending=600
sent: state=finished sent=600
1 call
one more: state=finished sent=600 refused=1
by the queue: state=running pending=1 sent=600
1 held by paused
sent: state=finished sent=601
1 call
