--TEST--
Tables, columns and the orphan check can have the application's names
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
on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $pdo = $backend->pdo();
    $pdo->exec('CREATE TABLE registrations (number VARCHAR(20) PRIMARY KEY)');
    $pdo->exec("INSERT INTO registrations VALUES ('R1'), ('R3')");

    /* Two queues in one database, with one config table and with two. */
    $one = $backend->queue(table: 'Mails', configTable: 'settings', referenceColumn: 'registration_number', orphanCheck: 'registrations.number');
    $two = $backend->queue(table: 'order', configTable: 'settings', referenceColumn: 'select');
    $three = $backend->queue();
    foreach ([$one, $two, $three] as $queue) {
        foreach (['R1', 'R2', null] as $reference) {
            $queue->enqueue(mail_fields(), $reference);
        }
        echo var_export($queue->enqueue(mail_fields(), 'R1'), true), ' ', $queue->stats()->pending, "\n";
    }
    $one->setConfig('color', 'red');
    var_dump($two->config('color'), $three->config('color'));
    foreach ([$one, $two, $three] as $queue) {
        echo implode(' ', array_map(fn($job) => $job->reference ?? 'none', $queue->claim(10))), ', left ', count($queue->jobs()), "\n";
    }
    $quote = $backend->name === 'mysql' ? '`' : '"';
    echo $pdo->query("SELECT count(*) FROM {$quote}order{$quote} WHERE {$quote}select{$quote} = 'R2'")->fetchColumn(), "\n";

    foreach ([
        'table' => ['mail queue'],
        'table, empty' => [''],
        'table, quote' => ["x'); DROP TABLE config; --"],
        'table, digit' => ['1st'],
        'table, long' => [str_repeat('t', 64)],
        'config table' => ['configTable' => 'a.b'],
        'reference column' => ['referenceColumn' => "r\n"],
        'reference column, taken' => ['referenceColumn' => 'status'],
        'orphan check' => ['orphanCheck' => 'registrations'],
        'orphan check, no column' => ['orphanCheck' => 'registrations.'],
    ] as $what => $arguments) {
        echo "$what: ", thrown(fn() => $backend->queue(...$arguments)), "\n";
    }

    /* Tables of an older version are not upgraded with a wrong name of their column. */
    $pdo->exec("UPDATE settings SET {$quote}value{$quote} = '1' WHERE {$quote}key{$quote} = 'mailSchemaVersion:Mails'");
    $pdo->exec("ALTER TABLE {$quote}Mails{$quote} DROP COLUMN recipient_id");
    echo thrown(fn() => $backend->queue(table: 'Mails', configTable: 'settings', referenceColumn: 'registration')), "\n";
    $row = $pdo->query("SELECT * FROM {$quote}Mails{$quote}")->fetch(PDO::FETCH_ASSOC);
    var_dump(isset($row['registration_number']), array_key_exists('registration', $row), array_key_exists('recipient_id', $row));

    /* Another program's rows are left alone. */
    $pdo->exec('CREATE TABLE taken (x INTEGER)');
    $pdo->exec('CREATE TABLE colors (name VARCHAR(9), v VARCHAR(9))');
    echo preg_replace('/it lacks .*/', 'it lacks …', thrown(fn() => $backend->queue(table: 'taken'))), "\n";
    echo strtok(thrown(fn() => $backend->queue(table: 'other', configTable: 'colors')), ':'), "\n";
});
?>
--EXPECT--
NULL 3
NULL 3
NULL 3
string(3) "red"
NULL
R1 none, left 2
R1 R2 none, left 3
R1 R2 none, left 3
1
table: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, empty: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, quote: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, digit: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
table, long: ValueError: MailQueue::__construct(): Argument #2 ($table) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
config table: ValueError: MailQueue::__construct(): Argument #3 ($configTable) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
reference column: ValueError: MailQueue::__construct(): Argument #4 ($referenceColumn) must be a name of 1 to 63 letters, digits and underscores that does not begin with a digit
reference column, taken: ValueError: referenceColumn "status" is another column of the queue
orphan check: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
orphan check, no column: ValueError: MailQueue::__construct(): Argument #5 ($orphanCheck) must be "table.column" or null
MailQueue\DatabaseException [schema]: table Mails has no column registration: give the name of its column for references (referenceColumn, --reference-column)
bool(true)
bool(false)
bool(false)
MailQueue\DatabaseException [schema]: a table taken exists that is not the queue's: it lacks …
MailQueue\DatabaseException [database]
