--TEST--
mailqueue stats, metrics and show: what happened to mail
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo is_executable(MailQueueTest\build_directory() . '/promtool/usr/bin/promtool')
    ? backends_missing('pgsql', 'mysql') : 'skip promtool is missing; "tools/setup promtool" unpacks it';
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require __DIR__ . '/../lib/cli.inc';
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $left = 3600 - time() % 3600;
    $left < 60 && sleep($left); // all within one hour
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $run = function (string ...$words) use ($backend): void {
        [$code, $out, $errors] = cli($words, ['MAILQUEUE_DATABASE' => $backend->dsn]);
        $text = preg_replace('/ --database \S+/', '', "$out$errors");
        $hours = array_flip(array_map(fn(int $ago) => gmdate('Y-m-d H\Z', time() - 3600 * $ago), range(0, 3)));
        echo '$ ', implode(' ', $words), " ($code)\n", preg_replace(['/ +$/m', '/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/', '/\d{10}/'], ['', 'TIME', 'TIME'],
            strtr($text, array_map(fn($ago) => "HOUR-$ago", $hours)));
    };
    $run('stats');
    $hour = intdiv(time(), 3600) * 3600;
    $count = $pdo->prepare('INSERT INTO mail_count (hour, mail_type, event, part, mails, recipients) VALUES (?, ?, ?, ?, ?, ?)');
    foreach ([
        [$hour, 'news', 'claimed', 0, 10, 10], [$hour, 'news', 'sent', 0, 4, 5], [$hour, 'news', 'sent', 3, 3, 3],
        [$hour - 7200, 'mail "x"', 'sent', 0, 90, 90], [$hour - 7200, 'news', 'try_later', 0, 2, 2],
        [$hour - 7200, 'news', 'parked', 0, 1, 1], [$hour - 3 * 86400, 'news', 'refused', 0, 1, 1], [$hour - 90 * 86400, 'news', 'sent', 0, 1000, 1000],
    ] as $row) {
        $count->execute($row);
    }
    $run('stats');
    $queue->setConfig('mailHistoryDays', 30);
    $log = $pdo->prepare("INSERT INTO mail_log (at, job_id, reference, mail_type, subject, relay, event, phase, attempt, recipients, uncertain, reply, ms, waited)
        VALUES (?, ?, NULL, ?, 'Hi', ?, ?, ?, ?, 1, 0, ?, ?, ?)");
    foreach (range(1, 100) as $i) {
        $log->execute([$hour - 7200 + $i, 1000 + $i, 'mail', 'smtp://a', 'sent', 'dot', 1, '250 ok', 30, $i]);
    }
    $log->execute([$hour - 100, 17, 'news', 'smtp://b', 'try_later', 'rcpt', 1, "450 4.2.0 \e[31mgreylisted", 12, 0]);
    $log->execute([$hour, 17, 'news', 'smtp://b', 'sent', 'dot', 2, '250 ok', 25, 7000]);
    $run('stats', '--by', 'hour');
    $run('stats', '--by', 'type', '--since', '400d');
    $run('stats', '--by', 'relay', '--since', '400d');
    $days = json_decode(cli(['stats', '--by', 'day', '--since', '100h', '--json'], ['MAILQUEUE_DATABASE' => $backend->dsn])[1], true);
    echo 'by day: ', array_sum(array_column(array_column($days, 'events'), 'sent')), ' sent to ', array_sum(array_column($days, 'recipients')), ', ',
        json_encode(array_unique(array_map(fn(array $row) => $row['day'] % 86400, $days))), "\n";
    $run('stats', '--since', '0s', '--json');
    $run('stats', '--by', 'week');
    $run('stats', '--since', 'long');
    $run('show', '17');
    $run('show', '16');
    // More attempts than show prints.
    $pdo->exec('INSERT INTO mail_log (at, job_id, mail_type, event, attempt, recipients, uncertain) VALUES '
        . implode(', ', array_map(fn(int $n): string => "($hour, 18, 'news', 'try_later', $n, 1, 0)", range(1, 1001))));
    foreach (['', ' AND attempt = 1'] as $but) {
        $but === '' || $pdo->exec("DELETE FROM mail_log WHERE job_id = 18$but");
        [, $text] = cli(['show', '18'], ['MAILQUEUE_DATABASE' => $backend->dsn]);
        [, $json] = cli(['show', '18', '--json'], ['MAILQUEUE_DATABASE' => $backend->dsn]);
        preg_match_all('/^\S+ \S+ +(\d+) +try_later/m', $text, $shown);
        $kept = json_decode($json, true);
        echo count($shown[1]), ' from ', $shown[1][0], ' to ', end($shown[1]), ': ', implode(preg_grep('/older/', explode("\n", $text))),
            ' ', count($kept['history']), ' from ', $kept['history'][0]['attempt'], ' ', json_encode($kept['historyIsCut'] ?? null), "\n";
    }
    $id = $queue->enqueue(mail_fields());
    $queue->fail($queue->claim()[0], 'not today', retryAfter: 3600);
    [, $json] = cli(['show', (string) $id, '--json'], ['MAILQUEUE_DATABASE' => $backend->dsn]);
    echo json_encode(array_map(fn(array $row) => [$row['event'], $row['attempt'], $row['reply']], json_decode($json, true)['history'])), "\n";
    $pdo->exec('INSERT INTO mail_bounce (hash, event, at, kind, n) VALUES (1, 1, ' . $hour - 3600 . ", 'hard', 0)");
    $hours = array_column(json_decode(cli(['stats', '--json'], ['MAILQUEUE_DATABASE' => $backend->dsn])[1], true), 'hour');
    echo 'in order: ', json_encode(array_map(fn(int $one): int => ($hour - $one) / 3600, $hours)), "\n";
    $pdo->exec('DELETE FROM mail_bounce');
    $run('metrics');
    [, $text] = cli(['metrics'], ['MAILQUEUE_DATABASE' => $backend->dsn]);
    $promtool = proc_open([MailQueueTest\build_directory() . '/promtool/usr/bin/promtool', 'check', 'metrics'], [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    fwrite($pipes[0], $text);
    fclose($pipes[0]);
    echo stream_get_contents($pipes[1]), 'promtool: exit ', proc_close($promtool), "\n";
});
?>
--EXPECT--
$ stats (0)
Nothing happened in this time.

Waiting times come from the history, which is off:
  mailqueue config mailHistoryDays 30
$ stats (0)
hour            sent  try_later  refused  parked  uncertain  expired  wait p50  p95
HOUR-2  90    2          0        1       0          0        -         -
HOUR-0  7     0          0        0       0          0        -         -

Waiting times come from the history, which is off:
  mailqueue config mailHistoryDays 30
$ stats --by hour (0)
hour            sent  try_later  refused  parked  uncertain  expired  wait p50  p95
HOUR-2  90    2          0        1       0          0        50 s      95 s
HOUR-0  7     0          0        0       0          0        116 min   116 min
$ stats --by type --since 400d (0)
type      sent  try_later  refused  parked  uncertain  expired  wait p50  p95
mail "x"  90    0          0        0       0          0        -         -
news      1007  2          1        1       0          0        116 min   116 min
$ stats --by relay --since 400d (0)
relay     sent  try_later  refused  parked  uncertain  expired  wait p50  p95
smtp://a  100   0          0        0       0          0        50 s      95 s
smtp://b  1     1          0        0       0          0        116 min   116 min
by day: 97 sent to 98, [0]
$ stats --since 0s --json (0)
[
    {
        "hour": TIME,
        "events": {
            "claimed": 10,
            "sent": 7
        },
        "recipients": 8,
        "p50": 7000,
        "p95": 7000
    }
]
$ stats --by week (64)
mailqueue: --by must be hour, day, type or relay.
$ stats --since long (64)
mailqueue: --since must be a span such as 90m, 12h or 7d.
$ show 17 (0)
Mail 17 has left the queue.

at                    attempt  event      phase  recipients  took   waited
TIME  1        try_later  rcpt   1           12 ms  0 s
      450 4.2.0 ?[31mgreylisted
TIME  2        sent       dot    1           25 ms  116 min
      250 ok
$ show 16 (1)
mailqueue: There is no mail with the id 16. Mail that was sent leaves the queue: mailqueue log --id 16 says what became of it.
1000 from 2 to 1001: There are older attempts. The newest 1,000: 1000 from 2 true
1000 from 2 to 1001:  1000 from 2 null
[["try_later",1,"not today"]]
in order: [2,1,0]
$ metrics (0)
# HELP mailqueue_mails Mails in the queue; over 10,000 estimated.
# TYPE mailqueue_mails gauge
mailqueue_mails{status="pending"} 0
mailqueue_mails{status="sending"} 0
mailqueue_mails{status="failed"} 1
mailqueue_mails{status="parked"} 0
mailqueue_mails{status="held"} 0
# HELP mailqueue_due_mails Mails that are due now; over 10,000 estimated.
# TYPE mailqueue_due_mails gauge
mailqueue_due_mails 0
# HELP mailqueue_due_age_seconds For how long the oldest mail has been due.
# TYPE mailqueue_due_age_seconds gauge
mailqueue_due_age_seconds 0
# HELP mailqueue_enabled Whether mail is sent (mailQueueEnabled).
# TYPE mailqueue_enabled gauge
mailqueue_enabled 1
# HELP mailqueue_workers Workers that run now.
# TYPE mailqueue_workers gauge
mailqueue_workers 0
# HELP mailqueue_limit_recipients_per_hour The hourly limit; 0 means none.
# TYPE mailqueue_limit_recipients_per_hour gauge
mailqueue_limit_recipients_per_hour 0
# HELP mailqueue_relay_paused_until_timestamp_seconds Until when a relay is paused; 0 if none is.
# TYPE mailqueue_relay_paused_until_timestamp_seconds gauge
mailqueue_relay_paused_until_timestamp_seconds 0
# HELP mailqueue_slow_domains Domains whose mail is slowed down, because too many recipients fail.
# TYPE mailqueue_slow_domains gauge
mailqueue_slow_domains 0
# HELP mailqueue_events_total Mails by what happened to them.
# TYPE mailqueue_events_total counter
mailqueue_events_total{type="mail",event="claimed"} 1
mailqueue_events_total{type="mail",event="try_later"} 1
mailqueue_events_total{type="mail \"x\"",event="sent"} 90
mailqueue_events_total{type="news",event="claimed"} 10
mailqueue_events_total{type="news",event="parked"} 1
mailqueue_events_total{type="news",event="refused"} 1
mailqueue_events_total{type="news",event="sent"} 1007
mailqueue_events_total{type="news",event="try_later"} 2
# HELP mailqueue_recipients_total The same, in recipients.
# TYPE mailqueue_recipients_total counter
mailqueue_recipients_total{type="mail",event="claimed"} 1
mailqueue_recipients_total{type="mail",event="try_later"} 1
mailqueue_recipients_total{type="mail \"x\"",event="sent"} 90
mailqueue_recipients_total{type="news",event="claimed"} 10
mailqueue_recipients_total{type="news",event="parked"} 1
mailqueue_recipients_total{type="news",event="refused"} 1
mailqueue_recipients_total{type="news",event="sent"} 1008
mailqueue_recipients_total{type="news",event="try_later"} 2
promtool: exit 0