<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\Filter;
use MailQueue\Cli\Stop;
use MailQueue\Internal;
use MailQueue\Status;

/** Which mails a list or a bulk action is about: those of a filter, or single ones. */
final class Selection
{
    public const FIELDS = ['type', 'reference', 'recipient', 'error', 'subject', 'campaign',
        'older'];

    /** @var array<string, string> the filter's fields that are set */
    public readonly array $fields;
    public readonly Filter $filter;

    /** @param \Closure(string): ?string $field the text of a field */
    public function __construct(\Closure $field)
    {
        $fields = [];
        foreach (['status', ...self::FIELDS] as $name) {
            $text = $field($name);
            $text === null || $fields[$name] = $text;
        }
        $this->fields = $fields;
        $words = array_map(
            static fn (string $name, string $text): string => "--$name=$text",
            array_keys($fields),
            $fields
        );
        try {
            $this->filter = new Filter(new Arguments(['list', ...$words]));
        } catch (Stop $e) {
            throw new Refusal(ucfirst(ltrim($e->getMessage(), '-')));
        }
    }

    /**
     * @param array<mixed> $given the form's
     * @param list<Status> $states
     * @param bool $isUncertain whether only mail that may have arrived counts
     * @return list<int> those that exist and are in one of these states
     */
    public static function ids(
        MailQueue $queue,
        array $given,
        array $states,
        bool $isUncertain = false
    ): array {
        $isId = static fn (mixed $id): bool => is_string($id)
            && preg_match('/\A[1-9]\d{0,17}\z/', $id) === 1;
        $ids = implode(', ', array_filter($given, $isId)) ?: '0';
        $names = implode("', '", array_column($states, 'value'));
        return array_map(intval(...), array_column(Internal::select($queue, 'SELECT id FROM {t} '
            . "WHERE id IN ($ids) AND status IN ('$names')"
            . ($isUncertain ? ' AND uncertain_to IS NOT NULL' : '') . ' ORDER BY id', []), 0));
    }
}
