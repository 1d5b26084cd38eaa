--TEST--
Real bounces of Postfix: the worker's mail comes back to the token, and the pipe suppresses its recipient; while the database is away, Postfix keeps the report
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--CONFLICTS--
postfix
--SKIPIF--
<?php require __DIR__ . '/../lib/servers.inc'; require __DIR__ . '/../lib/postfix.inc'; echo MailQueueTest\Postfix::missing(); ?>
--FILE--
<?php
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/postfix.inc';
require __DIR__ . '/../lib/cli.inc';
use MailQueueTest\Postfix;

// The program runs as another user, whom Postfix's pipe and local choose.
$directory = temp_directory();
$path = "$directory/mail.db";
$queue = new MailQueue($path);
$queue->stats();
chmod($directory, 0777);
chmod($path, 0666);
[$command, $environment] = for_others(cli_command(['bounce']), ['HOME' => '/', 'PATH' => getenv('PATH')] + sanitizer_environment());
$script = "$directory/bounce";
$words = array_map(escapeshellarg(...), ['env', '-i', ...array_map(fn($name, $value) => "$name=$value", array_keys($environment), $environment), ...$command]);
file_put_contents($script, "#!/bin/sh\nexec " . implode(' ', $words) . " --database \"\$(cat $directory/where)\"\n");
file_put_contents("$directory/where", $path);
chmod($script, 0755);
file_put_contents("$directory/aliases", "bounces \"|$script\"\n");
file_put_contents("$directory/transports", "pipe.test mailqueue:\nfull.test error:5.2.2 the mailbox is full\nblocked.test error:5.7.1 blocked by a reputation list\n");
$postfix = new Postfix(1, settings: [
    'mydestination' => 'users.test, bounce.test', 'alias_maps' => "texthash:$directory/aliases", 'recipient_delimiter' => '+', 'transport_maps' => "texthash:$directory/transports",
    'bounce_size_limit' => '20000000', 'message_size_limit' => '20000000', 'minimal_backoff_time' => '1s', 'maximal_backoff_time' => '1s', 'queue_run_delay' => '1s', 'default_privs' => 'nobody', 'smtpd_reject_unlisted_recipient' => 'no',
], services: "mailqueue unix - n n - 1 pipe\n  flags=DR user=nobody argv=$script\n");
$send = function (string $to, string $from, string ...$fields) use ($queue, $postfix): void {
    $queue->enqueue(mail_fields(...['to' => $to] + $fields), envelopeFrom: $from);
    $report = $queue->runWorker("smtp://127.0.0.1:$postfix->port", log: '');
    $report->sent === 1 || print("sent $report->sent\n");
};
$until = function (callable $happened) use ($postfix): void {
    wait_until($happened) || print(substr($postfix->log(), -1500));
};
$say = function (string $where) use ($directory): void {
    file_put_contents("$directory/new", $where);
    rename("$directory/new", "$directory/where"); // the script never reads half of it
};

echo "-- an alias\n";
$send('No.Such.User@users.test', 'bounces+*@bounce.test');
$until(fn() => $queue->suppressions() !== []);
[$one] = $queue->suppressions();
echo "$one[address] $one[reason] ", preg_match('/^report: .*unknown/i', $one['source']) ? 'unknown' : $one['source'], "\n";
$queue->enqueue(mail_fields(to: 'no.such.user@users.test'));
echo $queue->runWorker("smtp://127.0.0.1:$postfix->port", log: '')->suppressed, " suppressed\n";

echo "-- a transport\n";
$kinds = fn(): string => implode(' ', array_column(MailQueue\Internal::select($queue, 'SELECT kind FROM {!} ORDER BY kind'), 0));
$send('ann@full.test', '*@pipe.test');
$until(fn() => $kinds() === 'hard quota');
$send('bea@blocked.test', 'bounces+*@bounce.test', text: str_repeat(str_repeat('0123456789abcdef', 60) . "\n", 6000)); // 6 MB come back
$until(fn() => $kinds() === 'blocked hard quota');
echo $kinds(), "\n";
$delivered = fn(): array => preg_match_all('/ status=(\w+) \(delivered (?:to command|via mailqueue service)/', $postfix->log(), $lines) ? $lines[1] : [];
$until(fn() => count($delivered()) === 3);
echo implode(' ', $delivered()), "\n";

echo "-- the database is away\n";
$say("$directory/nowhere/mail.db");
$send('cy@full.test', '*@pipe.test');
$until(fn() => preg_match('/to=<\w+@pipe\.test>.* status=deferred/', $postfix->log()) === 1);
echo $kinds(), "\n";
$say($path);
// If Postfix looks for deferred mail just when it defers this one, it does not look again by itself.
$until(function () use ($kinds, $postfix): bool {
    static $looks = 0;
    ++$looks % 200 === 0 && $postfix->flush();
    return $kinds() === 'blocked hard quota quota';
});
echo $kinds(), ', ', count($queue->suppressions()), " suppressed\n";
?>
--EXPECT--
-- an alias
no.such.user@users.test hard_bounce unknown
1 suppressed
-- a transport
blocked hard quota
sent sent sent
-- the database is away
blocked hard quota
blocked hard quota quota, 1 suppressed
