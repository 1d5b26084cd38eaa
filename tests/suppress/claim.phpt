--TEST--
Suppressed addresses get no mail: found in any form, by reason and list, also if they were suppressed after the mail was stored; shown as suppressed
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
    $pdo = $backend->pdo();
    $queue->setConfig('mailHistoryDays', 7);
    $sent = [];
    $work = function () use ($queue, &$sent): string {
        $sent = [];
        $report = $queue->runWorker(function ($job, $message, $from, $recipients) use (&$sent): void {
            array_push($sent, ...$recipients);
        }, log: '', compose: fn($job): array => mail_fields(to: 'composed@example.net, other@example.net'));
        sort($sent);
        return "sent $report->sent suppressed $report->suppressed parked $report->parked to " . implode(' ', $sent);
    };
    $to = fn(string ...$addresses): array => array_map(fn(string $to): array => ['message' => mail_fields(to: $to)], $addresses);
    $list = fn(string $to, string $list = 'news'): array => ['message' => mail_fields(to: $to)
        + ['unsubscribe' => ['list' => $list, 'url' => 'https://example.org/u.php']]];

    echo "-- the list\n";
    var_dump($queue->suppress('Ann@Example.NET'), $queue->suppress('ann@example.net', 'manual', source: 'again'),
        $queue->suppress('bea@example.net', 'unsubscribe', 'list:news', 'a page'));
    echo json_encode(array_map(fn(array $one): array => array_diff_key($one, ['createdAt' => 0]), $queue->suppression('ANN@example.net'))), "\n";
    echo json_encode(array_column($queue->suppressions(), 'address')), json_encode(array_column($queue->suppressions(1, 1), 'scope')),
        json_encode(array_column($queue->suppressions(scope: ''), 'id')), json_encode($queue->suppressions(reason: 'complaint')), "\n";
    must(abs($queue->suppressions()[0]['createdAt'] - time()) < 60, 'createdAt');

    echo "-- one mail, many mails\n";
    $id = $queue->enqueue(mail_fields(to: 'ANN@example.net'));
    $queue->enqueueMany([...$to('ann@example.net', 'bea@example.net', 'cy@example.net'), $list('bea@example.net'), $list('bea@example.net', 'shop'), $list('cy@example.net')]);
    echo $work(), "\n";
    $job = $queue->job($id);
    echo $job->status->value, ' ', $job->parkedFor, ' ', preg_replace('/\d{4}-\d\d-\d\d/', 'DAY', $job->lastError), ' ', json_encode($job->recipients), "\n";
    foreach ($pdo->query("SELECT event, mails, recipients FROM mail_count WHERE event IN ('suppressed', 'sent', 'parked') ORDER BY event") as $row) {
        echo "$row[event] $row[mails]/$row[recipients] ";
    }
    echo (int) $pdo->query("SELECT count(*) FROM mail_log WHERE event = 'suppressed'")->fetchColumn(), "\n";

    echo "-- suppressed after the mail was stored\n";
    $queue->enqueueMany($to('cy@example.net', 'di@example.net', 'ed@example.net'));
    $queue->suppress('CY@example.net', 'hard_bounce');
    $queue->suppress('ed@example.net', 'unsubscribe');
    echo $work(), "\n";

    echo "-- several recipients\n";
    $queue->enqueue(mail_fields(to: 'di@example.net, cy@example.net, ed@example.net'));
    echo $work(), "\n";
    $job = $queue->jobs(limit: 10, recipient: 'cy@')[1];
    echo $job->parkedFor, ' ', json_encode($job->recipients), ' ', preg_replace('/\d{4}-\d\d-\d\d/', 'DAY', json_encode($job->refused)), "\n";

    echo "-- composed when it is sent\n";
    $queue->suppress('composed@example.net');
    $queue->enqueue();
    echo $work(), "\n";
    $queue->suppress('other@example.net');
    $id = $queue->enqueue();
    echo $work(), ' ', $queue->job($id)->parkedFor, "\n";

    echo "-- to a list, named by the argument\n";
    $queue->suppress('bea@example.net', 'unsubscribe', 'list:news');
    $text = "From: shop@example.org\r\nTo: bea@example.net, di@example.net\r\nBcc: gus@example.net\r\nSubject: News\r\n\r\nHello\r\n";
    $queue->suppress('gus@example.net', 'unsubscribe');
    $queue->enqueue($text, list: 'news');
    $queue->enqueue($text, list: 'shop');
    $queue->enqueue($text);
    $queue->enqueueMany([['message' => $text, 'list' => 'news', 'recipients' => ['bea@example.net', 'bea+x@example.net']]]);
    echo $work(), "\n";
    $queue->suppress('composed@example.net', 'manual', 'list:news');
    $id = $queue->enqueue(list: 'news');
    echo $work(), $queue->job($id) === null ? ', deleted' : ', there', "\n";
    foreach (['shop', '', "a\nb"] as $other) {
        echo thrown(fn() => $queue->enqueue($list('cy@example.net')['message'], list: $other)), "\n";
    }
    echo thrown(fn() => $queue->enqueue($text, list: '')), "\n";

    echo "-- of a campaign, with a list and without one\n";
    foreach (['spring' => ['unsubscribe' => ['list' => 'news', 'url' => 'https://example.org/u.php']], 'summer' => []] as $name => $more) {
        $campaign = $queue->campaign($name);
        $campaign->setMessage(['from' => 'news@example.org', 'subject' => 'Hello', 'text' => 'Hello'] + $more);
        $queue->suppress("before-$name@example.net", 'manual', "campaign:$name");
        $campaign->add(['before-spring@example.net', 'before-summer@example.net', 'after-spring@example.net', 'after-summer@example.net', 'other@example.org']);
        $queue->suppress("after-$name@example.net", 'unsubscribe', "campaign:$name");
        $campaign->start();
        echo "$name: ", $work(), "\n";
    }
    $queue->suppress('none@example.net', 'manual', 'campaign:autumn');
    $queue->enqueueMany([$list('after-spring@example.net'), $list('none@example.net', 'autumn'), ...$to('before-summer@example.net')]);
    echo $work(), "\n";

    echo "-- removed\n";
    $queue->delete(array_column($queue->jobs(limit: 100), 'id'));
    $id = $queue->enqueue(mail_fields(to: 'ann@example.net'));
    echo $work(), "\n";
    echo $queue->unsuppress('ann@example.net', 'list:news'), $queue->unsuppress('ann@example.net', reason: 'complaint'),
        $queue->unsuppress('ANN@example.net'), $queue->unsuppress('ann@example.net'), json_encode($queue->suppression('ann@example.net')), "\n";
    $queue->retryFailed([$id]);
    echo $work(), "\n";

    echo "-- refused\n";
    foreach ([['no address'], ['a@b.example', 'bounce'], ['a@b.example', 'manual', "a\nb"], ['a@b.example', 'manual', 'news'], ['a@b.example', 'manual', str_repeat('x', 191)]] as $arguments) {
        echo thrown(fn() => $queue->suppress(...$arguments)), "\n";
    }
    echo thrown(fn() => $queue->unsuppress('nobody')), "\n", thrown(fn() => $queue->suppressions(0)), "\n";

    echo "-- in the application's transaction\n";
    if ($backend->name !== 'native') {
        $pdo = $backend->pdo();
        $joined = new MailQueue($pdo);
        $pdo->beginTransaction();
        $joined->suppress('fay@example.net');
        $pdo->rollBack();
    }
    echo json_encode($queue->suppression('fay@example.net')), $queue->suppress('fay@example.net') ? ' added' : ' lost', "\n";
    $queue->enqueue(mail_fields(to: 'fay@example.net'));
    echo $work(), "\n";
});
?>
--EXPECT--
-- the list
bool(true)
bool(false)
bool(true)
[{"id":1,"address":"ann@example.net","scope":null,"reason":"manual","source":null}]
["ann@example.net","bea@example.net"]["list:news"][1][]
-- one mail, many mails
sent 4 suppressed 3 parked 2 to bea@example.net bea@example.net cy@example.net cy@example.net
parked suppressed suppressed: manual, DAY ["ANN@example.net"]
parked 2/2 sent 4/4 suppressed 3/3 3
-- suppressed after the mail was stored
sent 2 suppressed 1 parked 1 to di@example.net ed@example.net
-- several recipients
sent 1 suppressed 1 parked 1 to di@example.net ed@example.net
refused null {"cy@example.net":"suppressed: hard_bounce, DAY"}
-- composed when it is sent
sent 1 suppressed 1 parked 1 to other@example.net
sent 0 suppressed 1 parked 1 to  suppressed
-- to a list, named by the argument
sent 4 suppressed 3 parked 0 to bea+x@example.net bea@example.net bea@example.net di@example.net di@example.net di@example.net gus@example.net
sent 0 suppressed 1 parked 0 to , deleted
MailQueue\MessageException [list]: list: the message names another one in unsubscribe[list]; name the list once
MailQueue\MessageException [list]: list: the message names another one in unsubscribe[list]; name the list once
MailQueue\MessageException [list]: list: the message names another one in unsubscribe[list]; name the list once
ValueError: list must have 1 to 185 octets, not 0
-- of a campaign, with a list and without one
spring: sent 3 suppressed 2 parked 0 to after-summer@example.net before-summer@example.net other@example.org
summer: sent 3 suppressed 2 parked 0 to after-spring@example.net before-spring@example.net other@example.org
sent 3 suppressed 0 parked 0 to after-spring@example.net before-summer@example.net none@example.net
-- removed
sent 0 suppressed 1 parked 1 to 
0010[]
sent 1 suppressed 0 parked 0 to ann@example.net
-- refused
MailQueue\MessageException [address]: address: the address "no address" has no "@"; write it as name@example.org
ValueError: reason cannot be "bounce"; it is one of unsubscribe hard_bounce complaint manual
ValueError: scope must have at most 190 octets of UTF-8 without control characters
ValueError: scope cannot be "news"; write list: and the name of the list, as list:news, or campaign: and its name; leave it out for all mail
ValueError: scope must have at most 190 octets of UTF-8 without control characters
MailQueue\MessageException [address]: address: the address "nobody" has no "@"; write it as name@example.org
ValueError: MailQueue::suppressions(): Argument #1 ($limit) must be between 1 and 10000
-- in the application's transaction
[] added
sent 0 suppressed 1 parked 1 to
