--TEST--
MailQueue::__construct(): the forms of a database, and options out of range
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
$path = database();
$directory = dirname($path);

new MailQueue($path);
new MailQueue("sqlite:$path");
new MailQueue("SQLite:$path", table: 'other', configTable: 'settings', referenceColumn: 'registration_id',
    orphanCheck: 'registrations.number', backoff: MailQueue\Backoff::fixed(), journal: 'delete', durability: 'normal', busyTimeout: 0);
chdir($directory);
$relative = new MailQueue('mail.db');
chdir('/');
$relative->enqueue(mail_fields());
echo 'by a relative path, after chdir(): ', (new MailQueue($path))->stats()->pending, "\n";

foreach ([
    'empty' => [''],
    'sqlite: alone' => ['sqlite:'],
    'memory' => [':memory:'],
    'sqlite memory' => ['sqlite::memory:'],
    'file URI' => ["file:$path?mode=memory"],
    'NUL' => ["$path\0.txt"],
    'PostgreSQL' => ['pgsql:host=localhost;dbname=x;password=s3 cret'],
    'MySQL' => ['mysql:hots=localhost;password=s3cret'],
    'URL' => ['postgres://me:s3cret@localhost/x'],
    'stream wrapper' => ['phar://x.phar/mail.db'],
    'PDO' => [new PDO('sqlite::memory:')],
    'object' => [new ArrayObject()],
    'array' => [[]],
    'very long' => [str_repeat('x', 5000)],
    'table' => [$path, 'mail queue'],
    'table, empty' => [$path, ''],
    'table, quote' => [$path, "x'); DROP TABLE config; --"],
    'table, digit' => [$path, '1st'],
    'table, long' => [$path, str_repeat('t', 64)],
    'table, SQLite\'s own' => [$path, 'sqlite_x'],
    'config table' => [$path, 'configTable' => 'a.b'],
    'reference column' => [$path, 'referenceColumn' => "r\n"],
    'reference column, taken' => [$path, 'referenceColumn' => 'status'],
    'orphan check' => [$path, 'orphanCheck' => 'registrations'],
    'orphan check, empty' => [$path, 'orphanCheck' => ''],
    'orphan check, no column' => [$path, 'orphanCheck' => 'registrations.'],
    'orphan check, two dots' => [$path, 'orphanCheck' => 'main.registrations.number'],
    'journal' => [$path, 'journal' => 'memory'],
    'journal, capitals' => [$path, 'journal' => 'WAL'],
    'durability' => [$path, 'durability' => 'off'],
    'busy timeout' => [$path, 'busyTimeout' => -1],
    'busy timeout, large' => [$path, 'busyTimeout' => 3600001],
] as $what => $arguments) {
    echo "$what: ", thrown(fn() => new MailQueue(...$arguments), $path), "\n";
}
?>
--EXPECT--
by a relative path, after chdir(): 1
empty: ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
sqlite: alone: ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
memory: ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
sqlite memory: ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
file URI: ValueError: MailQueue::__construct(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
NUL: ValueError: MailQueue::__construct(): Argument #1 ($database) must not contain any null bytes
PostgreSQL: MailQueue\Exception: $database: the DSN is not name=value throughout, with semicolons between, such as pgsql:host=db;dbname=app; a value with a blank or semicolon in it is better given by other ways
MySQL: MailQueue\Exception: $database: the DSN has a name that PDO does not know for MySQL: there are host, port, dbname, unix_socket, charset, user and password, with semicolons between (two within a value are one)
URL: MailQueue\Exception: $database: there is no such kind of database: give the path of an SQLite file, "sqlite:" and the path, "pgsql:host=db;dbname=app" (PostgreSQL) or "mysql:host=db;dbname=app" (MySQL, MariaDB)
stream wrapper: MailQueue\Exception: $database: there is no such kind of database: give the path of an SQLite file, "sqlite:" and the path, "pgsql:host=db;dbname=app" (PostgreSQL) or "mysql:host=db;dbname=app" (MySQL, MariaDB)
PDO: nothing
object: TypeError: MailQueue::__construct(): Argument #1 ($database) must be of type PDO|string, ArrayObject given
array: TypeError: MailQueue::__construct(): Argument #1 ($database) must be of type PDO|string, array given
very long: ValueError: MailQueue::__construct(): Argument #1 ($database) is too long for a path: use a shorter one
table: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, empty: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, quote: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, digit: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, long: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, SQLite's own: ValueError: table must be a name of letters, digits and underscores that does not begin with a digit, at most 63 of them
config table: ValueError: MailQueue::__construct(): Argument #3 ($configTable) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
reference column: ValueError: MailQueue::__construct(): Argument #4 ($referenceColumn) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
reference column, taken: ValueError: referenceColumn "status" is another column of the queue
orphan check: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
orphan check, empty: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
orphan check, no column: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
orphan check, two dots: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
journal: ValueError: MailQueue::__construct(): Argument #7 ($journal) must be "wal", "truncate", "delete" or null
journal, capitals: ValueError: MailQueue::__construct(): Argument #7 ($journal) must be "wal", "truncate", "delete" or null
durability: ValueError: MailQueue::__construct(): Argument #8 ($durability) must be "full" or "normal"
busy timeout: ValueError: MailQueue::__construct(): Argument #9 ($busyTimeout) must be between 0 and 3600000 (milliseconds)
busy timeout, large: ValueError: MailQueue::__construct(): Argument #9 ($busyTimeout) must be between 0 and 3600000 (milliseconds)
