--TEST--
mailqueue adopt on MariaDB: if storing fails after the tables were renamed, that is undone, and the words say so; what cannot be undone at once, --undo undoes
--EXTENSIONS--
mailqueue
pdo_mysql
--SKIPIF--
<?php require __DIR__ . '/../lib/backends.inc'; echo backends_missing('mysql'); ?>
--FILE--
<?php
require __DIR__ . '/adopt.inc';
require __DIR__ . '/../lib/backends.inc';

use MailQueue\Cli\Adopt\{Adoption, Database, Names, Undo};

spl_autoload_register(static function (string $class): void {
    $path = __DIR__ . '/../../cli/' . strtr(substr($class, strlen('MailQueue\\Cli\\')), '\\', '/') . '.php';
    str_starts_with($class, 'MailQueue\\Cli\\') && is_file($path) && require $path;
});

/** A connection that lets others do something just before, or just after, the tables are renamed. */
final class Meddled extends PDO
{
    public ?Closure $before = null;
    public ?Closure $after = null;

    public function exec(string $statement): int|false
    {
        $isRename = str_starts_with($statement, 'RENAME TABLE');
        [$before, $after] = $isRename ? [$this->before, $this->after] : [null, null];
        $before === null || [$this->before = null, $before($this)];
        $count = parent::exec($statement);
        $after === null || [$this->after = null, $after($this)];
        return $count;
    }
}

/** All tables, and the rows of the old one. */
function everything(PDO $pdo): string
{
    $made = array_map(static fn(string $name): array => $pdo->query("SHOW CREATE TABLE $name")->fetch(PDO::FETCH_NUM), column($pdo, 'SHOW TABLES'));
    return json_encode([$made, $pdo->query('SELECT * FROM mail_queue ORDER BY id', PDO::FETCH_NUM)->fetchAll()]);
}

$names = new Names('mail_queue', 'config', 'reference');
$holder = null;
$cases = [
    'a trigger that refuses the rows' => [null, static fn(PDO $other) => $other->exec("CREATE TRIGGER refuse BEFORE INSERT ON mail_queue FOR EACH ROW
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no mail on Sundays'")],
    'a row that came at the last moment' => [static fn(PDO $other) => $other->exec("INSERT INTO mail_queue VALUES (9, 'R9', 'm', 'bounced', NULL)"), null],
    'another one' => [static fn(PDO $other) => $other->exec("INSERT INTO mail_queue VALUES (9, 'R9', '', 'pending', NULL)"), null],
    'a lock of another connection' => [null, static function (PDO $other, Meddled $pdo) use (&$holder): void {
        $pdo->exec('SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1');
        $other->beginTransaction();
        $other->query('SELECT * FROM mail_queue FOR UPDATE');
        $holder = $other;
    }],
    'a killed connection' => [null, static fn(PDO $other, Meddled $pdo) => $other->exec('KILL ' . column($pdo, 'SELECT CONNECTION_ID()')[0])],
    'a view that cannot be made again' => [null, static fn(PDO $other) => $other->exec("DROP TABLE people; CREATE TRIGGER refuse BEFORE INSERT ON mail_queue FOR EACH ROW
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no mail on Sundays'")],
];
foreach ($cases as $what => [$before, $after]) {
    $backend = new Backend('mysql');
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE people (n VARCHAR(20))');
    $pdo->exec('CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, reference VARCHAR(20), mail_type VARCHAR(20), status VARCHAR(20), lang VARCHAR(5))');
    $pdo->exec("INSERT INTO mail_queue VALUES (3, 'R1', 'm', 'pending', 'de'), (5, 'R2', 'm', 'failed', 'en')");
    $pdo->exec('CREATE VIEW waiting AS SELECT id, lang FROM mail_queue LEFT JOIN people ON n = lang');
    $was = everything($pdo);
    $adopting = new Meddled($backend->dsn);
    $meddle = static fn(?Closure $do): ?Closure => $do === null ? null : static fn(Meddled $own) => $do($backend->pdo(), $own);
    [$adopting->before, $adopting->after] = [$meddle($before), $meddle($after)];
    $database = Database::server($adopting, $names, static fn(): PDO => $backend->pdo());
    $said = thrown(static fn() => (new Adoption($database, $names))->run(null, false, true));
    echo "-- $what\n", preg_replace('/SQLSTATE.*?(?=\d{4} )/', '(its state) ', $said), "\n";
    $holder?->rollBack();
    unset($adopting, $database);
    $holder = null;
    if (str_contains($said, 'adopt --undo')) {
        $database = Database::server($backend->pdo(), $names, static fn(): PDO => $backend->pdo());
        echo json_encode((new Undo($database, $names))->run()), "\n";
        unset($database);
    }
    $pdo->exec("DELETE FROM mail_queue WHERE id = 9");
    if (!str_contains($what, 'a view')) {
        must(everything($pdo) === $was, "as it was: $was\n" . everything($pdo));
        echo "as it was\n";
    }
}
?>
--EXPECT--
-- a trigger that refuses the rows
MailQueue\Cli\Stop: Table mail_queue cannot become the queue's: row 3: (its state) 1644 no mail on Sundays. Correct it. Nothing was changed.
as it was
-- a row that came at the last moment
MailQueue\Cli\Stop: Table mail_queue cannot become the queue's: it has rows with the status "bounced" (1). Delete those that were sent; give the others pending, failed, parked (not sent by itself) or sending (begun; it may have arrived). Nothing was changed.
as it was
-- another one
MailQueue\Cli\Stop: Table mail_queue cannot become the queue's: row 9: it has no mail_type. Give it one, or delete it. Nothing was changed.
as it was
-- a lock of another connection
MailQueue\Cli\Stop: The database refuses: (its state) 1205 Lock wait timeout exceeded; try restarting transaction. What was changed could not be undone: run mailqueue adopt --undo.
{"restored":"mail_queue","failed":[]}
as it was
-- a killed connection
MailQueue\Cli\Stop: The database refuses: (its state) 2006 MySQL server has gone away. What was changed could not be undone: run mailqueue adopt --undo.
{"restored":"mail_queue","failed":[]}
as it was
-- a view that cannot be made again
MailQueue\Cli\Stop: Table mail_queue cannot become the queue's: row 3: (its state) 1644 no mail on Sundays. Correct it. Table mail_queue is as it was. Could not be created again: CREATE ALGORITHM=UNDEFINED SQL SECURITY DEFINER VIEW "waiting" AS select "mail_queue"."id" AS "id","mail_queue"."lang" AS "lang" from ("mail_queue" left join "people" on("people"."n" = "mail_queue"."lang"))
