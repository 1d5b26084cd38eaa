--TEST--
tables() lists the queue's tables in a file; it creates and changes nothing
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';

$dir = temp_directory();
$path = "$dir/app.sqlite";
$say = static function (mixed ...$arguments) use ($dir): void {
    try {
        echo json_encode(MailQueue\Internal::tables(...$arguments)), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', str_replace($dir, '%', $e->getMessage()), "\n";
    }
};
$say($path);
touch($path);
$say($path);
$say("$dir/");
$pdo = new PDO("sqlite:$path");
$pdo->exec('CREATE TABLE config (key TEXT PRIMARY KEY, value TEXT)');
$before = md5_file($path);
$say($path);
$say("SQLite:$path", 'Mails', 'CONFIG');
$say(table: 'config', database: $path, configTable: "x' OR '1");
echo md5_file($path) === $before ? "as it was\n" : "changed\n";
new MailQueue($path, 'mails');
$say($path);
$say($path, 'mails');
$say($path, "mails\0");
$say("$path\0");
$say('');
$say(':memory:');
file_put_contents("$dir/bad.sqlite", str_repeat('no database ', 900));
$say("$dir/bad.sqlite");
chdir($dir);
$say('app.sqlite', 'mails');
$other = new Other('ini_set("open_basedir", "/usr"); try { MailQueue\Internal::tables($argv[1]); } catch (MailQueue\DatabaseException $e) { echo $e->getMessage(); }', $path);
echo str_replace($dir, '%', $other->end()[0]), "\n";
?>
--EXPECT--
MailQueue\DatabaseException: cannot open %/app.sqlite: it does not exist: correct the path, or create it first
MailQueue\DatabaseException: cannot open %/app.sqlite: it is empty: correct the path, or create it first
MailQueue\DatabaseException: cannot open %/: by its end it is a directory: give the path of a file
["config"]
["CONFIG"]
["config"]
as it was
["config"]
["mails","config"]
ValueError: MailQueue\Internal::tables(): Argument #2 ($table) must not contain any null bytes
ValueError: MailQueue\Internal::tables(): Argument #1 ($database) must not contain any null bytes
ValueError: MailQueue\Internal::tables(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
ValueError: MailQueue\Internal::tables(): Argument #1 ($database) must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
MailQueue\DatabaseException: %/bad.sqlite is not an SQLite database (or an encrypted or damaged one): correct the path, or restore a backup; see also: sqlite3 %/bad.sqlite .recover
["mails","config"]
%/app.sqlite: open_basedir does not allow this file; add its directory to open_basedir or move the database
