--TEST--
mailqueue config --unset of a move record unlocks the job table that it names, and no other
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
$path = temp_directory() . '/1.db';
$note = bin2hex(random_bytes(16)) . ' moved 0 0 elsewhere';
new MailQueue($path);
new MailQueue($path, table: 'post');
(new MailQueue($path))->setConfig('mailQueueMovedTo', json_encode(['mail_queue' => $note, 'post' => $note]));
$tables = fn() => implode(' ', array_keys(json_decode((new MailQueue($path))->config('mailQueueMovedTo') ?? '[]', true)));
echo $tables(), "\n";
foreach (['--table=Post', '--table=mail_queue'] as $option) {
    [$code, , $errors] = cli(['config', '--unset', 'mailQueueMovedTo', '--database', $path, $option]);
    echo "$option: $code $errors", $tables(), "\n";
}
var_dump((new MailQueue($path))->config('mailQueueMovedTo'));
?>
--EXPECT--
mail_queue post
--table=Post: 0 mail_queue
--table=mail_queue: 0 
NULL
