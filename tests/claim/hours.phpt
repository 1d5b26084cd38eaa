--TEST--
mailHours: mail of a type waits for its sending hours, and says so
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
// Tokyo's clocks are never changed. The hours begin in two hours.
$zone = new DateTimeZone('Asia/Tokyo');
$opening = new DateTimeImmutable(date('Y-m-d H:i', time() + 7200) . ':00', new DateTimeZone(date_default_timezone_get()));
$local = $opening->setTimezone($zone);
$at = fn(int $minutes): string => $local->modify("+$minutes minutes")->format('H:i');
$later = "news: {$at(0)}-{$at(60)} Asia/Tokyo";
$now = "news: {$at(-180)}-{$at(60)} Asia/Tokyo";
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend) use ($opening, $later, $now): void {
    $queue = $backend->queue();
    $types = fn(array $jobs): string => implode(' ', array_map(fn($job) => $job->type, $jobs));
    $state = function (int ...$ids) use ($queue, $opening): void {
        foreach ($ids as $id) {
            $job = $queue->job($id);
            $when = fn(?int $at): string => $at === null ? 'never' : ($at === $opening->getTimestamp() ? 'opening' : (abs($at - time()) < 60 ? 'now' : 'later'));
            echo "  $job->type: {$job->status->value}, attempts $job->attempts, parked for ", json_encode($job->parkedFor), ', next ', $when($job->nextAttemptAt),
                ', expected ', $when($job->expectedAt), ', waits for ', json_encode($job->waitsFor), "\n";
        }
    };
    $queue->setConfig('mailHours', $later);
    $news = $queue->enqueue(mail_fields(), type: 'news');
    $failed = $queue->enqueue(mail_fields(), type: 'news', reference: 'failed');
    $later = $queue->enqueue(mail_fields(), type: 'news', sendAt: time() + 8 * 3600);
    $login = $queue->enqueue(mail_fields(), type: 'login');
    echo "before a claim\n";
    $state($news, $login);
    echo json_encode(array_map(fn(int $at): bool => $at === $opening->getTimestamp(), $queue->stats()->closed)), "\n";
    echo 'claimed: ', $types($jobs = $queue->claim(10)), "\n";
    $queue->complete($jobs[0]);
    $state($news, $failed);
    echo 'expectedAt: ', $queue->expectedAt($news) === $opening->getTimestamp() ? 'the opening' : 'another', "\n";
    echo 'by type: ', implode(' ', array_map(fn($job) => $job->id, $queue->jobs(type: 'news', expected: true))) === "$news $failed $later" ? 'all' : 'not', "\n";

    // A worker passes them by, and a person can still hold and retry them.
    $queue->enqueue(mail_fields(), type: 'login');
    echo 'sent: ', $queue->runWorker('null://null')->sent, "\n";
    $queue->hold([$failed]);
    $state($failed);
    $queue->retryFailed([$failed]);
    $state($failed);
    echo 'claimed: ', $types($queue->claim(10)), ', ', $queue->job($failed)->nextAttemptAt === $opening->getTimestamp() ? 'put back' : 'not', "\n";

    echo "the hours begin earlier\n";
    $queue->setConfig('mailHours', $now);
    $state($news);
    foreach ($jobs = $queue->claim(10) as $job) {
        $queue->fail($job, '451 not now', retryAfter: 0);
    }
    echo 'claimed: ', $types($jobs), "\n";
    echo json_encode($queue->stats()->closed), "\n";
    $state($news, $later);
    echo "no hours\n";
    $queue->setConfig('mailHours', $later = 'news, login: Mo-Su 00:00-24:00 Asia/Tokyo');
    $queue->setConfig('mailHours', null);
    echo 'claimed: ', $types($queue->claim(10)), "\n";
    foreach (['news', 'Mo-Fr 08:00-18:00', 'news: Mo-Fr 8-18 UTC', 'Mo 08:00-12:00 11:00-13:00 UTC', 'a: Mo UTC; a: Tu UTC', 'Mo Europe/Bonn', 'Mo +02:00', 'Mo CEST'] as $text) {
        echo thrown(fn() => $queue->setConfig('mailHours', $text)), "\n";
    }
    $key = $backend->name === 'mysql' ? '`key`' : 'key';
    $backend->pdo()->exec("INSERT INTO config ($key, value) VALUES ('mailHours', 'news: Mo Europe/Bonn')");
    echo thrown(fn() => $queue->claim(1)), "\n", thrown(fn() => $queue->stats()), "\n", thrown(fn() => $queue->runWorker('null://null')), "\n";
    echo json_encode($queue->expectedAt($later = $queue->enqueue(mail_fields(), type: 'login'))), "\n";
    $queue->setConfig('mailHours', null);
    echo 'claimed: ', $types($queue->claim(10)), "\n";
});
?>
--EXPECT--
before a claim
  news: pending, attempts 0, parked for null, next now, expected opening, waits for "hours"
  login: pending, attempts 0, parked for null, next now, expected now, waits for null
{"news":true}
claimed: login
  news: pending, attempts 0, parked for null, next opening, expected opening, waits for "hours"
  news: pending, attempts 0, parked for null, next opening, expected opening, waits for "hours"
expectedAt: the opening
by type: all
sent: 1
  news: parked, attempts 0, parked for "hold", next opening, expected never, waits for null
  news: pending, attempts 0, parked for null, next now, expected opening, waits for "hours"
claimed: , put back
the hours begin earlier
  news: pending, attempts 0, parked for null, next opening, expected now, waits for null
claimed: news news
[]
  news: failed, attempts 1, parked for null, next now, expected now, waits for null
  news: pending, attempts 0, parked for null, next later, expected later, waits for "hours"
no hours
claimed: news news
ValueError: mailHours cannot be "news"; "news" has no days and no times; allowed values: [types:] days times zone; …
ValueError: mailHours cannot be "Mo-Fr 08:00-18:00"; "08:00-18:00" is not followed by a time zone: end the rule with one, such as Europe/Berlin or UTC; allowed values: [types:] days times zone; …
ValueError: mailHours cannot be "news: Mo-Fr 8-18 UTC"; "8-18" is neither days (Mo-Fr) nor a time (08:00-18:00), and only the last word of a rule is its time zone (Europe/Berlin); allowed values: [types:] days times zone; …
ValueError: mailHours cannot be "Mo 08:00-12:00 11:00-13:00 UTC"; "11:00-13:00" opens what other hours of the rule open, too: name each hour once; allowed values: [types:] days times zone; …
ValueError: mailHours cannot be "a: Mo UTC; a: Tu UTC"; "a" is a type in two rules: write all its hours into one; allowed values: [types:] days times zone; …
ValueError: mailHours: there is no time zone "Europe/Bonn"; allowed are the names that PHP knows (DateTimeZone::listIdentifiers())
ValueError: mailHours cannot be "Mo +02:00"; "+02:00" is not followed by a time zone: end the rule with one, such as Europe/Berlin or UTC; allowed values: [types:] days times zone; …
ValueError: mailHours: there is no time zone "CEST"; allowed are the names that PHP knows (DateTimeZone::listIdentifiers())
MailQueue\Exception: config key mailHours cannot be used: there is no time zone "Europe/Bonn". Nothing is sent until it is corrected (`mailqueue config mailHours VALUE`, or `mailqueue config --unset mailHours`)
MailQueue\Exception: config key mailHours cannot be used: there is no time zone "Europe/Bonn". Nothing is sent until it is corrected (`mailqueue config mailHours VALUE`, or `mailqueue config --unset mailHours`)
MailQueue\Exception: config key mailHours cannot be used: there is no time zone "Europe/Bonn". Nothing is sent until it is corrected (`mailqueue config mailHours VALUE`, or `mailqueue config --unset mailHours`)
null
claimed: login
