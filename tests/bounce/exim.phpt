--TEST--
Real bounces of Exim come back to the token, and its pipe suppresses the recipient
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--CONFLICTS--
exim
--SKIPIF--
<?php require __DIR__ . '/../lib/servers.inc'; require __DIR__ . '/../lib/exim.inc'; echo MailQueueTest\Exim::missing(); ?>
--FILE--
<?php
require __DIR__ . '/../lib/servers.inc';
require __DIR__ . '/../lib/exim.inc';
require __DIR__ . '/../lib/cli.inc';
use MailQueueTest\Exim;

$directory = temp_directory();
$path = "$directory/mail.db";
$queue = new MailQueue($path);
$queue->stats();
chmod($directory, 0777);
chmod($path, 0666);
[$command, $environment] = for_others(cli_command(['bounce', '--database', $path]), ['HOME' => '/', 'PATH' => getenv('PATH')] + sanitizer_environment());
$words = array_map(escapeshellarg(...), ['env', '-i', ...array_map(fn($name, $value) => "$name=$value", array_keys($environment), $environment), ...$command]);
file_put_contents("$directory/bounce", "#!/bin/sh\nexec " . implode(' ', $words) . "\n");
chmod("$directory/bounce", 0755);
$exim = new Exim(1, routers: <<<CONF
    bounces:
      driver = accept
      domains = bounce.test
      local_parts = bounces
      local_part_suffix = +*
      local_part_suffix_optional
      transport = mailqueue

    refused:
      driver = redirect
      domains = users.test
      allow_fail
      data = :fail: \${if eq{\$local_part}{full}{the mailbox is full}{no such user here}}

    CONF, transports: <<<CONF
    mailqueue:
      driver = pipe
      command = $directory/bounce
      user = Debian-exim
      return_output
      temp_errors = 75

    CONF);
foreach (['unknown.user', 'full'] as $i => $name) {
    $queue->enqueue(mail_fields(to: "$name@users.test"), envelopeFrom: 'bounces+*@bounce.test');
    $report = $queue->runWorker("smtp://127.0.0.1:$exim->port", log: '');
    $kinds = fn(): array => array_column(MailQueue\Internal::select($queue, 'SELECT kind FROM {!} ORDER BY kind'), 0);
    wait_until(fn() => count($kinds()) > $i, 30) || print($exim->log());
    echo "$report->sent sent, ", implode(' ', $kinds()), "\n";
}
[$one] = $queue->suppressions();
echo "$one[address] $one[reason]\n";
?>
--EXPECT--
1 sent, hard
1 sent, hard quota
unknown.user@users.test hard_bounce
