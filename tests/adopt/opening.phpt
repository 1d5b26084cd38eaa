--TEST--
Opening a mail_queue of another program changes nothing and names mailqueue adopt; so do status, list and doctor
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/adopt.inc';

const OLD = "CREATE TABLE mail_queue (registration_number TEXT NOT NULL, mail_type TEXT NOT NULL,
    status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at TEXT,
    PRIMARY KEY (registration_number, mail_type));
    INSERT INTO mail_queue VALUES ('R1', 'user', 'pending', 0, '2026-01-15 07:00:00')";
$short = static fn(string $text): string => preg_replace(['/it lacks [^.]*/', '~/\S*/~'], ['it lacks …', '%/'], $text);
const CONFIG = ';CREATE TABLE config (key TEXT PRIMARY KEY, value TEXT)';
foreach (['without a config table' => '', 'with one' => CONFIG,
    'with the newest column of ours' => CONFIG . ';ALTER TABLE mail_queue ADD COLUMN subject TEXT'] as $case => $more) {
    echo "-- $case\n";
    $pdo = old(OLD . $more);
    $before = dump($pdo);
    echo $short(thrown(fn() => new MailQueue(path($pdo), referenceColumn: 'registration_number'))), "\n";
    echo $short(thrown(fn() => new MailQueue($pdo, referenceColumn: 'registration_number'))), "\n";
    foreach (['status', 'list', 'migrate', 'work'] as $command) {
        [$code, $output, $errors] = cli([$command, '--database', path($pdo), '--reference-column', 'registration_number']);
        echo "$command: exit $code: ", $short($output . $errors);
    }
    [$code, $json] = cli(['doctor', '--json', '--database', path($pdo), '--reference-column', 'registration_number']);
    $found = array_values(array_filter(json_decode($json, true), fn(array $one): bool => str_contains($one['what'], 'adopt')));
    echo "doctor: exit $code: ", count($found), ' ', $short((string) $found[0]['run']), "\n";
    echo dump($pdo) === $before ? "as it was\n" : "CHANGED\n";
}
?>
--EXPECT--
-- without a config table
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
status: exit 73: mailqueue: The database %/mail.db has no table config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it. Another program made mail_queue: `mailqueue adopt` takes over its mail.
list: exit 73: mailqueue: The database %/mail.db has no table config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it. Another program made mail_queue: `mailqueue adopt` takes over its mail.
migrate: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
work: exit 73: mailqueue: The database %/mail.db has no table config. Check the path, --table and --config-table; mailqueue migrate with the same options creates it. Another program made mail_queue: `mailqueue adopt` takes over its mail.
doctor: exit 1: 1 mailqueue adopt --dry-run --database %/mail.db --reference-column registration_number
as it was
-- with one
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
status: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
list: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
migrate: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
work: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
doctor: exit 1: 1 mailqueue adopt --dry-run --database %/mail.db --reference-column registration_number
as it was
-- with the newest column of ours
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
MailQueue\DatabaseException [schema]: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
status: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
list: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
migrate: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
work: exit 78: mailqueue: a table mail_queue exists that is not the queue's: it lacks …. Run `mailqueue adopt` to take over another program's mail, rename it, or give the queue another table
doctor: exit 1: 1 mailqueue adopt --dry-run --database %/mail.db --reference-column registration_number
as it was
