--TEST--
migrate-store to MariaDB: a mail larger than max_allowed_packet stops the move, with the cure; after that it goes on and nothing is lost
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_mysql
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/copy.inc';

$server = new MailQueueTest\MariaDB(['max-allowed-packet' => '1048576']);
$to = $server->schema();
$queue = new MailQueue($path = database());
foreach ([10, 3_000_000, 10] as $i => $length) {
    $queue->enqueue(mail_fields(text: str_repeat("0123456789abcdef\n", intdiv($length, 17) + 1)), reference: "r$i");
}
$move = static function () use ($path, $to): void {
    [$code, $output, $errors] = cli(['migrate-store', $path, $to]);
    echo "exit $code: ", preg_replace(['/[0-9a-f]{64}/', '/(mysql:)[^ \n]*?(?=[:;.,]?( |\n))/', '~/\S*/~'], ['HASH', '$1%', '%/'], $output . $errors);
};
$move();
$there = $server->connect();
$there->exec('SET GLOBAL max_allowed_packet = 16777216');
$move();
$new = new MailQueue($to);
echo implode(' ', array_map(static fn(MailQueue\Job $job): string => "$job->reference:" . strlen($new->job($job->id)->message), $new->jobs())), "\n";
echo implode(' ', array_map(static fn(MailQueue\Job $job): string => "$job->reference:" . strlen($queue->job($job->id)->message), $queue->jobs())), "\n";
?>
--EXPECT--
exit 78: mailqueue: mail 2 could not be stored: mysql:%: SQLSTATE[08S01]: Communication link failure: 1153 Got a packet bigger than 'max_allowed_packet' bytes. Set max_allowed_packet of the server to more than the largest mail. What is copied stays: correct this and repeat the command to go on, or cancel the move with --abort
exit 0: Moved 3 mails to mysql:%: 3 pending.
All were compared: SHA-256 HASH.
r0:280 r1:3176740 r2:280
r0:280 r1:3176740 r2:280
