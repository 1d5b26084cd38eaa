--TEST--
mailqueue bounce on each database: what suppresses, what counts, once each; --dry-run; stats; forget; suppress remove; exit codes
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
require __DIR__ . '/messages.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';
use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Kind;
use MailQueue\Cli\Bounce\Recorder;

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    $environment = ['MAILQUEUE_DATABASE' => $backend->dsn, 'MAIL_QUEUE_LOG' => '/dev/null', 'XDG_STATE_HOME' => (string) getenv('XDG_STATE_HOME')];
    $bounce = function (string $message, string ...$options) use ($environment): void {
        $file = temp_directory() . '/message.eml';
        file_put_contents($file, $message);
        [$code, $out, $errors] = typed('mailqueue bounce ' . implode(' ', $options) . " < $file", $environment);
        echo "exit $code: $out$errors", $out . $errors === '' ? "\n" : '';
    };
    $suppressed = function () use ($queue): void {
        foreach ($queue->suppressions() as $one) {
            echo '  ', $one['address'] ?? '(hash)', " $one[reason] ", $one['scope'] ?? 'all', ": $one[source]\n";
        }
    };
    $ann = sender_to($queue, 'Ann@example.net');
    echo "-- a hard one\n";
    $hard = postfix($ann, 'Ann@example.net', '5.1.1', '550 5.1.1 user unknown');
    $bounce($hard, '--dry-run');
    $bounce($hard);
    $bounce($hard, '--json');
    $bounce("Subject: hello\n\nhi\n", '--dry-run');
    $bounce(str_replace($ann, 'bounces@example.org', $hard), '--dry-run');
    $suppressed();

    echo "-- five soft ones\n";
    $bea = sender_to($queue, 'bea@example.net');
    for ($i = 1; $i <= 5; $i++) {
        $message = postfix($bea, 'bea@example.net', $i % 2 ? '4.4.1' : '5.2.2', $i % 2 ? 'Connection timed out' : '552 5.2.2 over quota');
        $bounce($message);
        $bounce($message);
        $bounce(postfix($bea, 'bea@example.net', '5.7.1', '554 5.7.1 blocked by a black list'));
        echo count($queue->suppression('bea@example.net'));
    }
    echo "\n";

    echo "-- complaints, and a mail that was forwarded\n";
    $bounce(complaint(sender_to($queue, 'cy@example.net'), 'cy@example.net', 'abuse'));
    $bounce(complaint(sender_to($queue, 'di@example.net'), 'di@example.net', 'opt-out'));
    $bounce(str_replace('ed@example.net', 'new@example.com', exim(sender_to($queue, 'ed@example.net'), 'ed@example.net', 'Unrouteable address')), '--dry-run');
    $bounce(str_replace('ed@example.net', 'new@example.com', exim(sender_to($queue, 'ed@example.net'), 'ed@example.net', 'Unrouteable address')));
    $suppressed();
    $queue->enqueue(mail_fields(to: 'ED@example.net'));
    $report = $queue->runWorker('null://null', log: '');
    echo "sent $report->sent suppressed $report->suppressed\n";

    echo "-- what others record\n";
    $recorder = new Recorder($queue);
    $fay = fn(Kind $kind, string $id, ?string $scope = null) => $recorder->record(new Event('Fay@example.net', $kind, "x\u{202e}\n\xff" . str_repeat('ü', 300), 'ses', time(), $id, $scope))->value;
    echo $fay(Kind::AutoReply, '1'), ' ', $fay(Kind::Blocked, '1'), ' ', $fay(Kind::Blocked, '1'), ' ', $fay(Kind::Unsubscribe, '2', 'list:news'), ' ', $fay(Kind::Complaint, '3'), "\n";
    echo thrown(fn() => $recorder->record(new Event('no address', Kind::Hard, 'x', 'ses', time(), '4'))), "\n";
    echo thrown(fn() => $recorder->record(new Event('a@example.net', Kind::Hard, 'x', 'ses', time(), '4', 'news'))), "\n";
    echo count($queue->suppression('fay@example.net')), ' ', strlen($queue->suppression('fay@example.net')[0]['source']) > 150 ? 'long' : 'short', "\n";

    echo "-- words without blanks\n";
    for ($i = 0; $i < 4; $i++) {
        $bounce(postfix(sender_to($queue, "chi$i@example.net"), "chi$i@example.net", '5.1.1', '550 很抱歉，您发送给以下收件人的邮件未能成功投递，原因是收件人邮箱不存在' . str_repeat('a', $i) . '@qq.com'));
        echo mb_check_encoding($queue->suppression("chi$i@example.net")[0]['source'] ?? "\xff", 'UTF-8') ? 'kept ' : 'lost ';
    }
    echo "\n";

    echo "-- stats, forget, remove\n";
    [, $out] = cli(['stats', '--by', 'day'], $environment);
    echo preg_replace(['/ +/', '/\d{4}-\d\d-\d\d/', '/ $/m'], [' ', 'DAY', ''], $out);
    $known = array_count_values(array_column(json_decode(cli(['forget', '--dry-run', '--json', 'BEA@example.net'], $environment)[1], true)['bounces'], 'kind'));
    ksort($known);
    echo json_encode($known), "\n";
    echo preg_match('/Bounces erased: 10\./', cli(['forget', '--yes', 'bea@example.net'], $environment)[1]), ' ', count(MailQueue\Internal::select($queue,
        'SELECT 1 FROM {!} WHERE hash = ?1', [MailQueue\Internal::addressHash($queue, 'bea@example.net')])), "\n";
    cli(['suppress', 'remove', 'ann@example.net'], $environment);
    $bounce($hard, '--json');
    echo count($queue->suppression('ann@example.net')), "\n";

    echo "-- removed and reset in one transaction\n";
    $soft = fn(int $number): string => $recorder->record(new Event('ida@example.net', Kind::Soft, 'x', 'ses', time(), "soft $number"))->value;
    echo implode(' ', array_map($soft, range(1, 5))), ': ';
    $end = $backend->refuse('mail_bounce', 'n', 'OLD.n = 1');
    try {
        echo $queue->unsuppress('ida@example.net'), ' removed';
    } catch (MailQueue\DatabaseException) {
        echo 'fails, ', count($queue->suppression('ida@example.net')), ' is left';
    }
    $end();
    echo '; ', $queue->unsuppress('ida@example.net'), ' removed; ', $soft(6), "\n";

    echo "-- a damaged key\n";
    $key = $queue->config('mailSuppressionKey');
    $set = $backend->pdo()->prepare('UPDATE config SET value = ? WHERE ' . ($backend->name === 'mysql' ? '`key`' : 'key') . " = 'mailSuppressionKey'");
    $gus = postfix(sender_to($queue, 'gus@example.net'), 'gus@example.net', '5.1.1', '550 5.1.1 user unknown');
    $set->execute([substr($key, 2)]);
    $bounce($gus);
    $set->execute([$key]);
    $bounce($gus);
    echo count($queue->suppression('gus@example.net')), "\n";

    echo "-- the database is away\n";
    $environment['MAILQUEUE_DATABASE'] = temp_directory() . '/none/mail.db';
    [$code, , $errors] = typed('echo x | mailqueue bounce', $environment);
    echo "exit $code ", str_contains($errors, 'There is no database') ? 'no database' : $errors, "\n";
    [$code] = typed('echo x | mailqueue --table list bounce', $environment); // an option first
    echo "exit $code\n";
});
?>
--EXPECT--
-- a hard one
exit 0: A bounce.
Ann@example.net: hard
  550 5.1.1 user unknown
exit 0: 
exit 0: {
    "message": "a bounce",
    "events": [
        {
            "address": "Ann@example.net",
            "kind": "hard",
            "text": "550 5.1.1 user unknown",
            "outcome": "known"
        }
    ]
}
exit 0: Not a report.
exit 0: A bounce, without a token that proves whom it is about.
  ann@example.net hard_bounce all: report: 550 5.1.1 user unknown
-- five soft ones
exit 0: 
exit 0: 
exit 0: 
0exit 0: 
exit 0: 
exit 0: 
0exit 0: 
exit 0: 
exit 0: 
0exit 0: 
exit 0: 
exit 0: 
0exit 0: 
exit 0: 
exit 0: 
1
-- complaints, and a mail that was forwarded
exit 0: 
exit 0: 
exit 0: A bounce.
An address that is not named: hard
  5.0.0 This message was made by the mail delivery software. A message of yours could not be delivered to one or more of its recipients. This is a permanent error. The following address(es) failed: new@example.com Unrouteable address
exit 0: 
  ann@example.net hard_bounce all: report: 550 5.1.1 user unknown
  bea@example.net hard_bounce all: report: Connection timed out
  cy@example.net complaint all: complaint: feedback report: abuse, ISP-Loop/1.0
  di@example.net unsubscribe all: complaint: feedback report: opt-out, ISP-Loop/1.0
  (hash) hard_bounce all: report: 5.0.0 This message was made by the mail delivery software. A message of yours could not be delivered to one or more of its recipients. This is a permanent error. The following addres
sent 0 suppressed 1
-- what others record
nothing counted known suppressed suppressed
MailQueue\MessageException [address]: address: the address "no address" has no "@"; write it as name@example.org
ValueError: scope cannot be "news"; write list: and the name of the list, as list:news, or campaign: and its name; leave it out for all mail
2 long
-- words without blanks
exit 0: 
kept exit 0: 
kept exit 0: 
kept exit 0: 
kept 
-- stats, forget, remove
day sent try_later refused parked uncertain expired bounced complaint wait p50 p95
DAY 10 0 0 1 0 0 17 2 - -

Waiting times come from the history, which is off:
 mailqueue config mailHistoryDays 30
{"blocked":5,"quota":2,"soft":3}
1 0
exit 0: {
    "message": "a bounce",
    "events": [
        {
            "address": "Ann@example.net",
            "kind": "hard",
            "text": "550 5.1.1 user unknown",
            "outcome": "known"
        }
    ]
}
0
-- removed and reset in one transaction
counted counted counted counted suppressed: fails, 1 is left; 1 removed; counted
-- a damaged key
exit 75: mailqueue: Config key mailSuppressionKey is missing or damaged: restore it from a backup of the config table.
exit 0: 
1
-- the database is away
exit 75 no database
exit 75
