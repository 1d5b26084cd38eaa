--TEST--
mailqueue forget: what the queue knows of an address is exported and erased
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
require __DIR__ . '/../lib/cli.inc';
on_backends(['native', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $pdo = $backend->pdo();
    $run = fn(string ...$words) => cli(['forget', ...$words], ['MAILQUEUE_DATABASE' => $backend->dsn, 'MAIL_QUEUE_LOG' => '/dev/null',
        'XDG_STATE_HOME' => (string) getenv('XDG_STATE_HOME')]);
    $say = function (array $got): void {
        [$code, $out, $errors] = $got;
        echo "exit $code: ", trim(preg_replace('/delete (\d+) --database \S+/', 'delete $1', "$out$errors")), "\n";
    };
    $left = fn(): string => json_encode([array_map(fn($job) => [$job->id, $job->recipients ?? array_keys($job->refused)], $queue->jobs()),
        (int) $pdo->query('SELECT count(*) FROM mail_body')->fetchColumn(),
        $pdo->query('SELECT job_id FROM mail_log ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)], JSON_NUMERIC_CHECK);
    $queue->setConfig('mailHistoryDays', 30);
    $mail = fn(array $to, ?string $reference = null) => $queue->enqueue(
        ['from' => 'club@example.org', 'to' => $to, 'subject' => 'Secret', 'text' => 'x'], $reference);
    $mail(['me@example.org']);
    $mail(['ME@example.org', 'other@example.org']);
    $mail(['some@example.org']);
    $mail(['not-me@example.org']);
    $mail(['me@example.org']);
    $queue->fail($queue->claim(1)[0], 'Me@Example.org: 450 4.2.0 later');
    $queue->fail($queue->claim(1)[0], 'other@example.org: 450 4.2.0 later');
    $queue->fail($queue->claim(1)[0], '450 4.2.0 later: <me@example.org>');
    $before = $left();
    $say($run('me@example.org'));
    $say($run('--dry-run', 'me@example.org'));
    [$code, $json] = $run('--dry-run', '--json', 'me@example.org');
    $export = json_decode($json, true);
    echo $code, ' ', json_encode([array_column($export['jobs'], 'id'), $export['jobs'][0]['status'],
        str_contains($export['jobs'][0]['message'], 'Subject: Secret'), array_column($export['history'], 'reply'), $export['kept']]), "\n";
    echo $left() === $before ? "nothing was changed\n" : "CHANGED\n";

    // One is being sent: named when that takes longer than the timeout, otherwise waited for.
    [$job, $sending] = $queue->claim(2);
    $say($run('--yes', '--timeout', '0', 'me@example.org'));
    echo $left(), "\n";
    $waiting = $mail(['me@example.org']);
    $process = proc_open(cli_command(['forget', '--yes', 'me@example.org']), [1 => ['pipe', 'w']], $pipes, null,
        ['MAILQUEUE_DATABASE' => $backend->dsn, 'PATH' => getenv('PATH')] + sanitizer_environment());
    while ($queue->job($waiting) !== null) { // until it has erased what is not being sent
        usleep(10_000);
    }
    echo "$sending->id is ", $queue->complete($sending) ? "sent\n" : "lost\n";
    $out = stream_get_contents($pipes[1]);
    $say([proc_close($process), $out, '']);
    echo $left(), "\n";
    $queue->fail($job, '450 4.2.0 later: <not-me@example.org>, me@example.org.uk'); // others
    $queue->delete([2]);
    $say($run('--yes', 'me@example.org'));
    echo $left(), "\n";
    $say($run('me'));

    // Recipients of campaigns, also those that have no mail yet.
    foreach (['spring', 'fall'] as $name) {
        $campaign = $queue->campaign($name);
        $campaign->setMessage(['from' => 'club@example.org', 'subject' => 'x', 'text' => 'y']);
        $campaign->add([['address' => 'Me@example.org', 'name' => 'Me', 'fields' => ['a' => 1]], 'not-me@example.org']);
    }
    $queue->campaign('spring')->start();
    $queue->claim(1);
    [$code, $json] = $run('--dry-run', '--json', 'me@example.org');
    echo json_encode(json_decode($json)->campaigns), "\n";
    $say($run('--yes', '--timeout', '0', 'me@example.org'));
    foreach (['spring', 'fall'] as $name) {
        $progress = $queue->campaign($name)->progress();
        echo json_encode([$progress['recipients'], $progress['waiting']]), ' ';
    }
    echo json_encode($pdo->query('SELECT address FROM mail_recipient')->fetchAll(PDO::FETCH_COLUMN)), "\n";

    // The queue has the domain in another form. The history has more rows than show prints.
    $idn = $mail(['Ann@Bücher.example']);
    $queue->campaign('fall')->add(['ann@bücher.example']);
    $pdo->exec('INSERT INTO mail_log (at, job_id, mail_type, event, attempt, recipients, uncertain, reply) VALUES '
        . implode(', ', array_fill(0, 1002, "(1, $idn, 'mail', 'try_later', 1, 1, 0, 'later')")));
    foreach (['<ann@xn--bcher-kva.example>', 'ann@bücher.example'] as $i => $name) {
        $pdo->exec("INSERT INTO mail_log (at, job_id, mail_type, event, attempt, recipients, uncertain, reply)
            VALUES (1, 100 + $i, 'mail', 'refused', 1, 1, 0, '550 $name is unknown')");
    }
    $say($run('--yes', 'ann@bücher.example'));
    echo json_encode([$queue->job($idn), $queue->campaign('fall')->progress()['waiting'],
        (int) $pdo->query('SELECT count(*) FROM mail_log WHERE at = 1')->fetchColumn()]), "\n";
});
?>
--EXPECT--
exit 64: mailqueue: Erase me@example.org, with 3 mails? Add --yes, or look first with --dry-run.
exit 0: Would erase 2 mails and 2 rows of the history.
Mail 2 stays: it is for others too. Let it be sent, or: mailqueue delete 2
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
0 [[1,2,5],"failed",true,["Me@Example.org: 450 4.2.0 later","450 4.2.0 later: <me@example.org>"],{"2":"is for others too"}]
nothing was changed
exit 1: Erased 1 mail and 2 rows of the history.
Mail 2 stays: it is for others too. Let it be sent, or: mailqueue delete 2
Mail 5 stays: it is being sent. Repeat the command when it has left.
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
[[[2,["ME@example.org","other@example.org"]],[3,["some@example.org"]],[4,["not-me@example.org"]],[5,["me@example.org"]]],4,[2]]
5 is sent
exit 1: Erased 2 mails and 1 row of the history.
Mail 2 stays: it is for others too. Let it be sent, or: mailqueue delete 2
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
[[[2,["ME@example.org","other@example.org"]],[3,["some@example.org"]],[4,["not-me@example.org"]]],3,[2]]
exit 0: Erased 0 mails and 0 rows of the history.
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
[[[3,["some@example.org"]],[4,["not-me@example.org"]]],2,[2,4]]
exit 64: mailqueue: forget takes an address, such as name@example.org.
[{"campaign":"spring","name":"Me","fields":{"a":1}},{"campaign":"fall","name":"Me","fields":{"a":1}}]
exit 1: Erased 0 mails and 0 rows of the history.
It was a recipient of 2 campaigns.
Mail 7 stays: it is being sent. Repeat the command when it has left.
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
[2,0] [1,1] ["[\"not-me@example.org\"]","[\"not-me@example.org\"]"]
exit 0: Erased 1 mail and 1004 rows of the history.
It was a recipient of a campaign.
The worker's log names addresses, too, until logrotate deletes it. Messages to others that mention the address are not searched.
[null,1,0]
