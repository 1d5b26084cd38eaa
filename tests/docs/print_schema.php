<?php
/*
 * Prints docs/schema.sql: the statements by which a queue creates its tables on each database, as a
 * PDO gets them. tools/schema writes the file, schema.phpt compares it.
 */
declare(strict_types=1);

require_once __DIR__ . '/../lib/backends.inc';

const MEANINGS = [
    'mail_queue' => [
        'id' => 'never used again',
        'reference' => 'what the mail is about; with mail_type queued once',
        'mail_type' => '"mail" where enqueue() is given no type',
        'status' => 'pending, sending, failed, parked or held',
        'priority' => '-100 … 100; larger first',
        'attempts' => 'that failed, and the one under way',
        'max_attempts' => 'NULL: as the backoff policy says',
        'uncertain' => 'attempts whose outcome nobody knows',
        'paid' => 'tokens of the hourly limit that this claim has taken',
        'next_attempt_at' => 'UTC seconds since 1970, as all times',
        'expires_at' => 'deleted if it is not sent by then',
        'locked_until' => 'the end of the lease; NULL: not claimed',
        'locked_by' => "the claim token of the worker's run",
        'last_attempt_at' => '',
        'last_error' => 'why the last attempt failed',
        'parked_for' => 'refused, exhausted, uncertain, hold, unreadable or suppressed; hours: waits for mailHours',
        'created_at' => '',
        'message_id' => 'the same for every attempt',
        'envelope_from' => "NULL: the message's own",
        'recipients' => 'JSON: those still to be tried; NULL: composing says',
        'refused' => 'JSON: address → reply, of those given up',
        'campaign_id' => 'the id in mail_campaign',
        'fields' => 'JSON: delivery status notifications that are wanted',
        'resent_of' => 'the id of the mail that this one replaced',
        'uncertain_to' => 'JSON: recipients still to be tried that may have it',
        'paid_to' => 'the relay whose limits this claim counts for',
        'waits_for' => 'the limit that put the mail back, or "pause"',
        'subject' => 'decoded, at most 255 characters; NULL: not known before it is sent',
        'relay' => 'a key of the map of relays; NULL: the sender decides',
        'scope' => 'the list that it is mail to, as list:news',
        'cleared' => 'the newest suppression when its recipients were looked up; NULL: not looked up',
        'recipient_id' => 'the id in mail_recipient',
    ],
    'mail_body' => ['id' => "the job's", 'content' => 'the message; a job without one is composed when it is sent'],
    'mail_spent' => ['at' => 'when', 'n' => 'recipients handed over then, for mailRateMode strict'],
    'mail_window' => [
        'scope' => 'a limit of mailLimits, and whose count it is',
        'at' => 'when this leaves the window',
        'n' => 'recipients or mails handed over',
        'PRIMARY' => '',
    ],
    'mail_count' => [
        'hour' => 'when it began; after 90 days, when the day began',
        'mail_type' => '',
        'event' => 'as in the log: claimed, sent, try_later, refused, parked, …',
        'part' => 'one of several on a server, which are to be added up; 0 in a file',
        'mails' => 'how many mails had it',
        'recipients' => 'and to how many recipients',
        'PRIMARY' => '',
    ],
    'mail_log' => [
        'id' => '',
        'at' => 'when',
        'job_id' => 'the id in mail_queue; most are gone there',
        'reference' => '',
        'mail_type' => '',
        'subject' => '',
        'relay' => 'without a password',
        'event' => 'as in the log, without claimed',
        'phase' => 'where it was decided: compose, check, connect, mail, rcpt, data, dot, handover',
        'attempt' => '1 for the first',
        'recipients' => 'how many it is about',
        'uncertain' => 'earlier attempts whose outcome nobody knows',
        'reply' => "the relay's, or the error",
        'ms' => 'from MAIL to the reply, in milliseconds',
        'waited' => 'seconds from when the attempt was due to its begin; NULL: no message went out',
    ],
    'mail_suppression' => [
        'hash' => 'of the address, with mailSuppressionKey',
        'scope' => 'the list or campaign that it is about, as list:news; empty: all mail',
        'reason' => 'unsubscribe, hard_bounce, complaint or manual',
        'seq' => 'counts up in the order of commits',
        'address' => 'in lower case and A-labels; NULL: forgotten',
        'source' => 'who or what says so',
        'created_at' => 'when',
        'PRIMARY' => '',
        'UNIQUE' => '',
    ],
    'mail_campaign' => [
        'id' => 'its message is in mail_body under the same id with a minus',
        'name' => '',
        'state' => 'draft, running, paused, cancelled or finished',
        'mail_type' => "these columns, up to scope, are those of its jobs",
        'priority' => '',
        'max_attempts' => '',
        'message_id' => 'that of its mails without the .id before the @; NULL: it has no message yet',
        'envelope_from' => '',
        'relay' => '',
        'scope' => 'list:NAME, or without a list campaign:NAME',
        'list_url' => 'the page to unsubscribe at',
        'start_at' => 'not before; 0: at once',
        'created_at' => '',
        'started_at' => '',
        'finished_at' => '',
        'on_finished' => 'begun, or called when onFinished returned; NULL: not yet',
        'last_id' => 'of a recipient',
        'fed_to' => 'the recipients up to this one have, or had, jobs',
        'recipients' => 'how many were added',
        'fed' => 'for how many there were jobs',
        'sent' => '',
        'suppressed' => '',
        'uncertain' => 'attempts whose outcome nobody knows',
        'UNIQUE' => '',
    ],
    'mail_recipient' => [
        'id' => 'counts up from campaign_id * 2^40 + 1',
        'campaign_id' => '',
        'hash' => 'of the address, with mailSuppressionKey',
        'address' => 'JSON: a list of one address, as in mail_queue.recipients',
        'name' => 'display name',
        'fields' => 'JSON object, for the templates',
        'cleared' => 'as in mail_queue',
        'UNIQUE' => '',
    ],
    'mail_bounce' => [
        'hash' => 'of the address, with mailSuppressionKey',
        'event' => 'a hash that tells events apart: the same one counts once',
        'at' => 'when it was read; kept for 30 days',
        'kind' => 'hard, soft, quota, blocked, policy, unknown, complaint or unsubscribe',
        'n' => '1: it counts with others; 0: not, or not any more',
        'PRIMARY' => '',
        'UNIQUE' => '',
    ],
    'config' => ['key' => 'see docs/settings.md', 'value' => ''],
];

/** A fake of the application's connection that keeps statements which create something. */
final class Recorder extends PDO
{
    /** @var list<string> */
    public array $created = [];

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        str_starts_with($query, 'CREATE') && $this->created[] = $query;
        return parent::prepare($query, $options);
    }
}

/** @return list<string> the parts between commas that are not in parentheses */
function parts(string $list): array
{
    preg_match_all('/(?:[^,()]|(\((?:[^()]|(?1))*\)))+/', $list, $parts);
    return array_map(trim(...), $parts[0]);
}

/**
 * Formats a statement for people: without needless quotes, one column per line, with its meaning.
 */
function shown(string $statement, bool $explained): string
{
    $plain = preg_replace(['/IF NOT EXISTS (main\.)?/', '/(["`])(?!key\1)(\w+)\1/'], ['', '$2'], $statement);
    $plain = preg_replace('/`key` TEXT/', 'key TEXT', $plain);
    if (!preg_match('/^(CREATE TABLE (\S+)) (\((?:[^()]|(?3))*\))(.*)$/s', $plain, $table)) {
        return preg_replace('/ (ON|WHERE) /', "\n    $1 ", $plain) . ";\n";
    }
    [, $head, $name, $list, $tail] = $table;
    $parts = parts(substr($list, 1, -1));
    $lines = [];
    foreach ($parts as $i => $part) {
        $column = trim(strtok($part, ' '), '`');
        $line = "    $part" . ($i < count($parts) - 1 ? ',' : '');
        if ($explained) {
            $meaning = MEANINGS[$name][$column] ?? throw new Exception(
                "MEANINGS in tests/docs/print_schema.php does not say what $name.$column is");
            $line = $meaning === '' ? $line : sprintf('%-46s -- %s', $line, $meaning);
        }
        $lines[] = $line;
    }
    return "$head (\n" . implode("\n", $lines) . "\n)$tail;\n";
}

/** The statements that create the tables of an empty database. */
function statements(string $backend): string
{
    $pdo = new Recorder((new Backend($backend))->dsn);
    new MailQueue($pdo);
    return implode("\n", array_map(static fn(string $statement): string
        => shown($statement, $backend === 'sqlite'), $pdo->created));
}

echo "-- The queue's tables on each database. Written by tools/schema, from the statements that create them.\n";
foreach (['sqlite' => 'SQLite', 'pgsql' => 'PostgreSQL', 'mysql' => 'MariaDB and MySQL'] as $backend => $name) {
    echo "\n\n-- $name\n\n", statements($backend);
}
