<?php

// The queue's database: the path of an SQLite file, or the DSN of a server's database.

declare(strict_types=1);

namespace Torture;

use MailQueue;
use MailQueue\Backoff;
use PDO;

function is_server(string $path): bool
{
    return str_starts_with($path, 'pgsql:') || str_starts_with($path, 'mysql:');
}

/** A queue whose failed mail is due again after a second, and is never parked. */
function queue(string $path, string $journal = 'wal'): MailQueue
{
    $backoff = Backoff::fixed(1, 1000);
    return is_server($path) ? new MailQueue($path, backoff: $backoff)
        : new MailQueue($path, backoff: $backoff, journal: $journal, busyTimeout: 60_000);
}

function connect(string $path): PDO
{
    return new PDO(is_server($path) ? $path : "sqlite:$path", null, null,
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
}

/** Rows of a query. @return list<array<string, mixed>> */
function query(string $path, string $sql): array
{
    return apart(static fn(): array => connect($path)->query($sql)->fetchAll(PDO::FETCH_ASSOC));
}

function value(string $path, string $sql): mixed
{
    return current(query($path, $sql)[0]);
}

/** Records each attempt that becomes uncertain, in the same transaction. */
function note_uncertain(string $path): void
{
    $insert = 'INSERT INTO noted VALUES (NEW.id, COALESCE(NEW.reference, NEW.recipients), '
        . 'NEW.uncertain - OLD.uncertain);';
    $pdo = connect($path);
    $pdo->exec('CREATE TABLE noted (id BIGINT, reference VARCHAR(190), uncertain INTEGER)');
    switch (strstr($path, ':', true)) {
        case 'pgsql':
            $pdo->exec('CREATE FUNCTION note_uncertain() RETURNS trigger LANGUAGE plpgsql'
                . " AS $$ BEGIN $insert RETURN NULL; END $$");
            $pdo->exec('CREATE TRIGGER note_uncertain AFTER UPDATE ON mail_queue FOR EACH ROW'
                . ' WHEN (NEW.uncertain <> OLD.uncertain) EXECUTE PROCEDURE note_uncertain()');
            break;
        case 'mysql':
            $pdo->exec('CREATE TRIGGER note_uncertain AFTER UPDATE ON mail_queue FOR EACH ROW'
                . " BEGIN IF NEW.uncertain <> OLD.uncertain THEN $insert END IF; END");
            break;
        default:
            $pdo->exec('CREATE TRIGGER note_uncertain AFTER UPDATE OF uncertain ON mail_queue'
                . " WHEN NEW.uncertain <> OLD.uncertain BEGIN $insert END");
    }
}
