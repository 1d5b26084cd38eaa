--TEST--
A database that cannot be opened: path, cause and cure
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$directory = temp_directory();
file_put_contents("$directory/text.db", str_repeat("this is not a database\n", 200));
file_put_contents("$directory/empty.db", '');
mkdir("$directory/directory.db");
symlink("$directory/nowhere/x.db", "$directory/dangling.db");
posix_mkfifo("$directory/fifo.db", 0600);

/* A table's page overwritten. */
new MailQueue("$directory/damaged.db", journal: 'delete');
$bytes = file_get_contents("$directory/damaged.db");
file_put_contents("$directory/damaged.db", substr($bytes, 0, 100) . str_repeat("\xa5", strlen($bytes) - 100));

/* Paths at which there is something else. */
(new PDO("sqlite:$directory/taken.db"))->exec('CREATE TABLE mail_queue (x TEXT)');
(new PDO("sqlite:$directory/config.db"))->exec('CREATE TABLE config (name TEXT, v TEXT)');

foreach (['text.db', 'directory.db', 'no/such/directory/x.db', 'text.db/x.db', 'dangling.db', 'fifo.db', 'damaged.db', 'taken.db', 'config.db'] as $name) {
    echo "$name: ", thrown(fn() => new MailQueue("$directory/$name"), $directory), "\n";
}
/* Permissions do not stop root, so the file system is read-only. */
echo thrown(fn() => new MailQueue('/proc/mailqueue.db')), "\n";
echo 'an empty file is one to begin with: ', (new MailQueue("$directory/empty.db"))->enqueue(), "\n";
?>
--EXPECT--
text.db: MailQueue\DatabaseException [corrupt]: %/text.db is not an SQLite database (or an encrypted or damaged one): correct the path, or restore a backup; see also: sqlite3 %/text.db .recover
directory.db: MailQueue\DatabaseException [cantopen]: cannot open %/directory.db: it is a directory: give the path of a file
no/such/directory/x.db: MailQueue\DatabaseException [cantopen]: cannot open %/no/such/directory/x.db: its directory %/no/such/directory: No such file or directory: create it, correct the path, or change its owner or mode
text.db/x.db: MailQueue\DatabaseException [cantopen]: cannot open %/text.db/x.db: Not a directory: check the rights of the directories above it
dangling.db: MailQueue\DatabaseException [cantopen]: cannot open %/dangling.db or a file that SQLite keeps beside it: unable to open database file (No such file or directory): check owner, mode and the limit of open files
fifo.db: MailQueue\DatabaseException [cantopen]: cannot open %/fifo.db: it is not a regular file: give the path of a file
damaged.db: MailQueue\DatabaseException [corrupt]: the database %/damaged.db is damaged: stop what uses it, restore a backup, or save what is readable with: sqlite3 %/damaged.db .recover | sqlite3 new.sqlite
taken.db: MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks id as primary key, reference, mail_type, status, priority, attempts, max_attempts, uncertain, paid, next_attempt_at, expires_at, locked_until, locked_by, last_attempt_at, last_error, parked_for, created_at, message_id, envelope_from, recipients, refused, campaign_id, fields, subject, resent_of, uncertain_to, paid_to, waits_for, relay, scope, cleared, recipient_id. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
config.db: MailQueue\DatabaseException [database]: %/config.db: no such column: value (SQLite code 1)
MailQueue\DatabaseException [cantopen]: cannot open /proc/mailqueue.db or a file that SQLite keeps beside it: unable to open database file (No such file or directory): check owner, mode and the limit of open files
an empty file is one to begin with: 1
