<?php

declare(strict_types=1);

namespace MailQueue\Cli\Report;

use MailQueue;
use MailQueue\Internal;

/**
 * What the history says of a mail.
 *
 * @phpstan-type Row array{id: int, at: int, event: string, phase: ?string, attempt: int,
 *     recipients: int, uncertain: int, type: string, reference: ?string, subject: ?string,
 *     relay: ?string, reply: ?string, ms: ?int, waited: ?int}
 */
final class Timeline
{
    public const SHOWN = 1000;

    private const COLUMNS = ['id' => 'id', 'at' => 'at', 'event' => 'event', 'phase' => 'phase',
        'attempt' => 'attempt', 'recipients' => 'recipients', 'uncertain' => 'uncertain',
        'type' => 'mail_type', 'reference' => 'reference', 'subject' => 'subject',
        'relay' => 'relay', 'reply' => 'reply', 'ms' => 'ms', 'waited' => 'waited'];
    private const NUMBERS = ['id', 'at', 'attempt', 'recipients', 'uncertain', 'ms', 'waited'];

    /** @return array{list<Row>, bool} the newest in their order; whether there are older ones */
    public static function of(MailQueue $queue, int $id): array
    {
        $condition = 'job_id = ?1 ORDER BY id DESC LIMIT ?2';
        $rows = self::rows($queue, $condition, [$id, self::SHOWN + 1]);
        return [array_reverse(array_slice($rows, 0, self::SHOWN)), count($rows) > self::SHOWN];
    }

    /** @return list<Row> all, in their order */
    public static function all(MailQueue $queue, int $id): array
    {
        return self::rows($queue, 'job_id = ?1 ORDER BY id', [$id]);
    }

    /** @return list<Row> all that have the address in reply, subject or reference */
    public static function naming(MailQueue $queue, string $address): array
    {
        $holds = static fn (string $column): string
            => "{F}(lower(CAST($column AS {A})), lower(CAST(?1 AS {A}))) > 0";
        $rows = self::rows($queue, "{$holds('reply')} OR {$holds('subject')} OR "
            . $holds('reference') . ' ORDER BY id', [$address]);
        // "not-me@example.org" and "me@example.org.uk" belong to others.
        $whole = '/(?<![\w.+-])' . preg_quote($address, '/') . '(?![\w-]|\.\w)/i';
        return array_values(array_filter($rows, static fn (array $row): bool
            => preg_match($whole, "$row[reply] $row[subject] $row[reference]") === 1));
    }

    /**
     * @param list<int|string> $parameters
     * @return list<Row>
     */
    private static function rows(MailQueue $queue, string $condition, array $parameters): array
    {
        $names = array_keys(self::COLUMNS);
        $rows = [];
        foreach (Internal::select($queue, 'SELECT ' . implode(', ', self::COLUMNS) . ' FROM {H} '
            . "WHERE $condition", $parameters) as $values) {
            $row = array_combine($names, $values);
            foreach (self::NUMBERS as $name) {
                $row[$name] = $row[$name] === null ? null : (int) $row[$name];
            }
            /** @var Row $row */
            $rows[] = $row;
        }
        return $rows;
    }
}
