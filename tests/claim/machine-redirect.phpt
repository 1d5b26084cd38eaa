--TEST--
MAILQUEUE_REDIRECT_TO and MAILQUEUE_ALLOW_TO overrule the database: a copy of it on another machine writes to nobody else
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

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    // What the copied database says: live, to the customers.
    $backend->queue()->setConfig('mailLiveFrom', 1);
    $backend->queue()->setConfig('mailRedirectTypes', 'organizer');
    $claim = function (array $settings, array $recipients = ['Ann@Example.net', 'bob@allowed.example'], string $type = 'mail') use ($backend): void {
        foreach (['MAILQUEUE_REDIRECT_TO', 'MAILQUEUE_ALLOW_TO'] as $i => $name) {
            putenv(isset($settings[$i]) ? "$name=$settings[$i]" : $name);
        }
        $queue = $backend->queue();
        putenv('MAILQUEUE_REDIRECT_TO');
        putenv('MAILQUEUE_ALLOW_TO');
        $queue->enqueue(mail_fields(), null, $type, recipients: $recipients);
        $said = thrown(function () use ($queue): void {
            [$job] = $queue->claim();
            preg_match('/^X-Original-To: (.*)\r$/m', $job->message, $match);
            echo implode(' ', $job->recipients), isset($match[1]) ? " (was $match[1])" : '', "\n";
            $queue->complete($job);
        });
        echo $said === 'nothing' ? '' : substr($said, 0, 70) . "…\n";
        $queue->delete(array_column($queue->jobs(), 'id'));
    };
    $claim([]);
    $claim(['me@test.example']);
    $claim(['@test.example'], type: 'organizer');
    $claim(['me@test.example', '@ALLOWED.example, carol@example.net']);
    $claim(['me@test.example', 'Ann@Example.NET'], ['Ann@example.net', 'ann@example.net', 'x@sub.allowed.example']);
    foreach ([[1 => '@allowed.example'], ['nobody'], ['me@test.example', 'a b'], ['me@test.example', '@allowed.example,,']] as $wrong) {
        $claim($wrong);
    }
});

echo "-- the command line\n";
$file = temp_directory() . '/copy.sqlite';
$queue = new MailQueue($file);
$queue->enqueue(mail_fields(), recipients: ['ann@example.net']);
$own = ['MAILQUEUE_DATABASE' => $file, 'MAILQUEUE_REDIRECT_TO' => 'me@test.example', 'MAILQUEUE_ALLOW_TO' => '@allowed.example'];
$find = fn(string $text): string => preg_match('/Test mode[^.]*(\.[a-z][^.]*)*\.(?= |$)/m', str_replace("\n", ' ', $text), $match) ? $match[0] : $text;
echo 'status: ', $find(cli(['status'], $own)[1]), "\n";
[$code, $json] = cli(['doctor', '--json'], $own);
foreach (json_decode($json, true) as $one) {
    if (str_starts_with($one['what'], 'Test mode')) {
        echo "doctor: $code: {$one['what']}\n  {$one['cure']} ", json_encode($one['run']), "\n";
    }
}
echo 'work: ', cli(['work', '--transport', 'null://null'], $own)[1];
$queue->enqueue(mail_fields(), recipients: ['ann@example.net']);
[$code, $out, $errors] = cli(['work', '--transport', 'null://null'], ['MAILQUEUE_REDIRECT_TO' => 'oops'] + $own);
echo "work: exit $code: $out$errors";
?>
--EXPECT--
Ann@Example.net bob@allowed.example
me@test.example (was Ann@Example.net,)
Ann@test.example bob@test.example (was Ann@Example.net,)
me@test.example bob@allowed.example (was Ann@Example.net)
Ann@example.net me@test.example (was ann@example.net,)
MailQueue\Exception: this machine's test mode cannot be read: MAILQUEU…
MailQueue\Exception: this machine's test mode cannot be read: MAILQUEU…
MailQueue\Exception: this machine's test mode cannot be read: MAILQUEU…
MailQueue\Exception: this machine's test mode cannot be read: MAILQUEU…
-- the command line
status: Test mode of this machine: all mail goes to me@test.example, not to its recipients, unless they are among @allowed.example (MAILQUEUE_REDIRECT_TO, MAILQUEUE_ALLOW_TO).
doctor: 1: Test mode of this machine: all mail goes to me@test.example, not to its recipients, unless they are among @allowed.example (MAILQUEUE_REDIRECT_TO, MAILQUEUE_ALLOW_TO).
  On the machine that sends to the recipients, unset MAILQUEUE_REDIRECT_TO (ini mailqueue.redirect_to). null
work: mailqueue: 1 sent; nothing more is due. Test mode of this machine: all mail goes to me@test.example, not to its recipients, unless they are among @allowed.example (MAILQUEUE_REDIRECT_TO, MAILQUEUE_ALLOW_TO).
work: exit 78: mailqueue: this machine's test mode cannot be read: MAILQUEUE_REDIRECT_TO (ini mailqueue.redirect_to) must be an address or @domain, and MAILQUEUE_ALLOW_TO (mailqueue.allow_to), if set, addresses and @domains beside it, separated by commas. Nothing is sent until they are corrected
