--TEST--
setMessage() takes what enqueue() takes: expiresAt, after which recipients get no mail; dsn, list, and the header X-MailQueue-Relay
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
    $message = ['from' => 'News <news@example.org>', 'subject' => 'Hello', 'text' => 'Hello {{address}}'];
    $link = ['unsubscribe' => ['list' => 'news', 'url' => 'https://example.org/u.php']];
    $people = fn(int $from, int $to): array => array_map(fn(int $i): string => "r$i@example.net", range($from, $to - 1));
    $finished = [];
    $work = function (?int $mails = null) use ($queue, &$finished): string {
        $report = $queue->runWorker('null://null', log: '', messageLimit: $mails, onFinished: function (MailQueue\Campaign $campaign) use (&$finished): void {
            $finished[] = $campaign->progress()['name'];
        });
        return "sent $report->sent expired $report->expired suppressed $report->suppressed";
    };
    $progress = fn(MailQueue\Campaign $campaign): string => json_encode(array_filter(array_intersect_key($campaign->progress(),
        array_flip(['state', 'recipients', 'waiting', 'pending', 'held', 'sent', 'suppressed', 'gone', 'onFinished']))));

    echo "-- what is refused\n";
    $campaign = $queue->campaign('spring');
    foreach ([['expiresAt' => time()], ['expiresAt' => 0], ['expiresAt' => -1], ['expiresAt' => 'tomorrow'], ['dsn' => ['notify' => 'sometimes']], ['dsn' => ['orcpt' => 'x']],
        ['message' => $link + $message, 'list' => 'other'], ['list' => ''], ['list' => str_repeat('x', 186)], ['list' => "a\nb"], ['message' => ['headers' => ['X-MailQueue-Relay' => '']] + $message],
        ['message' => ['headers' => ['X-MailQueue-Relay' => '{{region}}']] + $message, 'relay' => 'own']] as $wrong) {
        echo thrown(fn() => $campaign->setMessage(...$wrong + ['message' => $message])), "\n";
    }

    echo "-- what each mail gets\n";
    $expires = time() + 3600;
    $campaign->setMessage(['headers' => ['x-mailqueue-relay' => 'own', 'X-Other' => 'yes']] + $message, expiresAt: new DateTimeImmutable("@$expires"),
        dsn: ['notify' => ['failure', 'delay'], 'ret' => 'hdrs', 'envid' => 'spring"\\'], list: 'news');
    $queue->suppress('r1@example.net', 'unsubscribe', 'list:news');
    $campaign->add($people(0, 2));
    echo preg_match_all('/^(?:X-.*|Hello .*)/mi', $campaign->preview('r0@example.net'), $m), ' ', implode(' ', array_map(trim(...), $m[0])), "\n";
    echo thrown(fn() => $campaign->start($expires)), ' ', $progress($campaign), "\n";
    $id = $campaign->test(['me@example.org'])[0];
    $campaign->start();
    $jobs = array_merge($queue->claim(10), $queue->claim(10));
    foreach ($jobs as $job) {
        [$fields] = $pdo->query("SELECT fields FROM mail_queue WHERE id = $job->id")->fetch(PDO::FETCH_NUM);
        echo $job->id === $id ? 'test: ' : 'mail: ', $job->recipients[0], ' ', json_encode($job->expiresAt === $expires), ' ', $job->expiresAt === null ? 'never' : 'expires', ' ', $fields, ' ', $job->relay, "\n";
        $queue->complete($job);
    }
    echo $work(), ' ', $progress($campaign), "\n";

    echo "-- a relay that is an argument, the same list twice, a page to unsubscribe at\n";
    $plain = $queue->campaign('plain');
    $plain->setMessage(['headers' => ['X-MailQueue-Relay' => 'own']] + $link + $message, relay: 'argument', dsn: [], list: 'news');
    echo implode(' ', $pdo->query("SELECT relay, scope, list_url FROM mail_campaign WHERE name = 'plain'")->fetch(PDO::FETCH_NUM)), "\n";

    echo "-- it expires while it runs\n";
    $late = $queue->campaign('late');
    $held = $queue->campaign('held');
    foreach ([$late, $held] as $i => $one) {
        $one->setMessage($message);
        $one->add($people(0, $i ? 20 : 1500));
    }
    $finished = [];
    $soon = time() + (getenv('MAILQUEUE_ASAN') === '1' ? 20 : 5);
    foreach ([$held, $late] as $one) {
        $one->setMessage($message, expiresAt: $soon);
        $one->start();
        $one === $held && $work(2);
        $one === $held && $held->pause();
    }
    echo $work(4), ' ', $progress($late), "\n";
    while (time() <= $soon) {
        usleep(50_000);
    }
    echo thrown(fn() => $late->add(['new@example.net'])), "\n";
    echo $work(), ' ', $progress($late), ' ', $progress($held), "\n";
    $held->resume();
    echo $work(), ' ', $work(), ' ', $progress($held), ' ', json_encode($finished), "\n";

    echo "-- a list that is named after its recipients\n";
    $named = $queue->campaign('named');
    $named->setMessage($message);
    $named->add($people(0, 3));
    $named->setMessage($message, list: 'news');
    $named->start();
    echo $work(), ' ', $progress($named), "\n";

    echo "-- a draft that has expired, one without recipients, one with failures\n";
    $end = time() + (getenv('MAILQUEUE_ASAN') === '1' ? 20 : 6);
    $draft = $queue->campaign('draft');
    $draft->setMessage($message, expiresAt: $end);
    $empty = $queue->campaign('empty');
    $empty->setMessage($message, expiresAt: $end);
    $empty->start();
    $failing = $queue->campaign('failing');
    $failing->setMessage($message, expiresAt: $end);
    $failing->add($people(0, 1));
    $failing->start();
    foreach (array_merge($queue->claim(10), $queue->claim(10)) as $job) {
        $queue->fail($job, 'no such user', permanent: true);
    }
    echo $work(), ' ', $progress($empty), "\n";
    while (time() <= $end) {
        usleep(50_000);
    }
    echo $work(), ' ', $progress($empty), "\n";
    echo thrown(fn() => $failing->retryFailed()), ' ', count($failing->failures()), "\n";
    echo thrown(fn() => $draft->add(['new@example.net'])), "\n", thrown(fn() => $draft->start()), "\n";
    $draft->setMessage($message);
    echo $draft->add(['new@example.net']), "\n";
}, together: true);
?>
--EXPECT--
-- what is refused
ValueError: expiresAt: must be later than now; leave it out for a mail that does not expire
ValueError: expiresAt: must be later than now; leave it out for a mail that does not expire
ValueError: expiresAt: must be seconds since 1970, between 0 and the end of the year 9999
MailQueue\MessageException [expiresAt]: expiresAt: must be a DateTimeInterface, an int or null, string given
ValueError: dsn[notify]: must be "never", or any of "success", "failure" and "delay"
MailQueue\MessageException [dsn]: dsn: unknown key "orcpt"; known are notify, ret and envid
MailQueue\MessageException [list]: list: the message names another one in unsubscribe[list]; name the list once
ValueError: list must have 1 to 185 octets, not 0
ValueError: list must have 1 to 185 octets, not 186
ValueError: list has the control character U+000A at octet 2; remove it
ValueError: relay must have 1 to 190 octets, not 0
MailQueue\MessageException [headers]: headers: X-MailQueue-Relay is the same for all mails of a campaign, so it cannot be a template; write the key of a relay
-- what each mail gets
2 X-Other: yes Hello r0@example.net
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign {"state":"draft","recipients":2,"waiting":2}
test: me@example.org false never {"dsn":"NOTIFY=FAILURE,DELAY RET=HDRS ENVID=spring\"\\"} own
mail: r0@example.net true expires {"dsn":"NOTIFY=FAILURE,DELAY RET=HDRS ENVID=spring\"\\"} own
sent 0 expired 0 suppressed 0 {"state":"finished","recipients":2,"sent":1,"suppressed":1,"onFinished":"called"}
-- a relay that is an argument, the same list twice, a page to unsubscribe at
argument list:news https://example.org/u.php
-- it expires while it runs
sent 4 expired 0 suppressed 0 {"state":"running","recipients":1500,"waiting":500,"pending":996,"sent":4}
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign
sent 0 expired 996 suppressed 0 {"state":"finished","recipients":1500,"sent":4,"gone":1496,"onFinished":"called"} {"state":"paused","recipients":20,"held":18,"sent":2}
sent 0 expired 18 suppressed 0 sent 0 expired 0 suppressed 0 {"state":"finished","recipients":20,"sent":2,"gone":18,"onFinished":"called"} ["late","held"]
-- a list that is named after its recipients
sent 2 expired 0 suppressed 1 {"state":"finished","recipients":3,"sent":2,"suppressed":1,"onFinished":"called"}
-- a draft that has expired, one without recipients, one with failures
sent 0 expired 0 suppressed 0 {"state":"running"}
sent 0 expired 0 suppressed 0 {"state":"finished","onFinished":"called"}
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign 1
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign
MailQueue\Exception: expiresAt: the campaign's mails expire before they could be sent; set its message with a later time, or make another campaign
1
