<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Internal;
use MailQueue\MessageException;
use MailQueue\Web\Html;
use MailQueue\Web\Search;

/**
 * Addresses that get no mail, or none of a list.
 *
 * @phpstan-type Row array{id: int, address: ?string, scope: ?string, reason: string,
 *     source: ?string, createdAt: int}
 */
final class Suppressions extends View
{
    private const MOST = 100;
    /** So many rows at a time, the newest first: no index helps to find a part of an address. */
    private const STEP = 5_000;
    private const REASONS = ['manual', 'unsubscribe', 'hard_bounce', 'complaint'];
    private const COLUMNS = ['id', 'address', 'scope', 'reason', 'source', 'createdAt'];

    private bool $isPart = false;

    public function title(): string
    {
        return $this->t('Suppressions');
    }

    public function content(): Html
    {
        $wanted = $this->context->request->text('address');
        $rows = $wanted === null ? $this->newest() : $this->found($wanted);
        return Html::all(
            Html::e('p', ['class' => 'lead'], $this->t('No mail is sent to these addresses, or '
                . 'none of a list. An unsubscription stops only mail to lists.')),
            $this->context->isAdmin() ? $this->adding() : null,
            $this->search($wanted ?? ''),
            $rows === [] && !$this->isPart ? $this->note('No address is found.') : null,
            $rows === [] ? null
                : self::table($this->title(), $this->head(), array_map($this->row(...), $rows)),
            $this->isPart ? $this->note('Looked only at the newest addresses; the rest would take '
                . 'too long. A whole address is found at once.') : null,
            count($rows) < self::MOST ? null : $this->note(
                'These are the newest %s. "mailqueue suppress export" writes all.',
                self::MOST
            )
        );
    }

    private function note(string $text, int ...$values): Html
    {
        return Html::e('p', ['class' => 'note'], $this->t($text, ...$values));
    }

    /** @return list<Row> */
    private function between(int $after, int $last, string $where, string ...$values): array
    {
        return array_map(
            static function (array $row): array {
                $row = array_combine(self::COLUMNS, $row);
                return ['id' => (int) $row['id'], 'createdAt' => (int) $row['createdAt'],
                    'scope' => (string) $row['scope'] === '' ? null : (string) $row['scope'],
                    'reason' => (string) $row['reason'],
                    'address' => $row['address'] === null ? null : (string) $row['address'],
                    'source' => $row['source'] === null ? null : (string) $row['source']];
            },
            Internal::select($this->context->queue, 'SELECT seq, address, scope, reason, source, '
                . "created_at FROM {Z} WHERE seq > $after AND seq <= $last "
                . "$where ORDER BY seq DESC LIMIT " . self::MOST, $values)
        );
    }

    /**
     * In steps, because a server with old statistics would sort the whole table.
     *
     * @return list<Row> the newest ones, as far as the time allows
     */
    private function newest(string $where = '', string ...$values): array
    {
        $rows = [];
        $end = hrtime(true) + (int) (Search::SECONDS * 1e9);
        $last = (int) Internal::select($this->context->queue, 'SELECT max(seq) FROM {Z}')[0][0];
        do {
            $before = (int) Internal::select($this->context->queue, 'SELECT min(seq) FROM (SELECT '
                . "seq FROM {Z} WHERE seq <= $last ORDER BY seq DESC LIMIT " . self::STEP
                . ') AS step')[0][0] - 1;
            array_push($rows, ...$this->between($before, $last, $where, ...$values));
            $last = $before;
        } while ($last > 0 && count($rows) < self::MOST && hrtime(true) < $end);
        $this->isPart = $last > 0 && count($rows) < self::MOST;
        return array_slice($rows, 0, self::MOST);
    }

    /** @return list<Row> those of an address, or of a part of one */
    private function found(string $wanted): array
    {
        try {
            $exact = $this->context->queue->suppression($wanted);
        } catch (MessageException) {
            $exact = [];
        }
        return $exact !== [] ? $exact : $this->newest(
            'AND {F}(CAST(address AS {A}), CAST(?1 AS {A})) > 0',
            strtolower($wanted)
        );
    }

    /** @return array<string, string> */
    private function head(): array
    {
        $head = ['address' => 'Address', 'reason' => 'Reason', 'scope' => 'Of what',
            'since' => 'Since', 'source' => 'Where from'];
        $head += $this->context->isAdmin() ? ['do' => 'Action'] : [];
        return array_map($this->t(...), $head);
    }

    /**
     * @param Row $row
     * @return array<string, Html|string>
     */
    private function row(array $row): array
    {
        $cells = [
            'address' => $row['address'] ?? $this->t('(forgotten)'),
            'reason' => $this->t($row['reason']),
            'scope' => $row['scope'] ?? $this->t('all mail'),
            'since' => $this->context->texts->time($row['createdAt']),
            'source' => (string) $row['source'],
        ];
        if (!$this->context->isAdmin()) {
            return $cells;
        }
        return $cells + ['do' => $row['address'] === null ? '' : $this->context->form(
            'unsuppress',
            ['address' => $row['address'], 'scope' => (string) $row['scope'],
                'reason' => $row['reason']],
            $this->context->button(
                $this->t('Remove'),
                'quiet',
                "$cells[address], $cells[reason], $cells[scope]"
            )
        )];
    }

    private function search(string $wanted): Html
    {
        return Html::e(
            'form',
            ['class' => 'row', 'role' => 'search'],
            $this->context->links->hidden('suppressions'),
            Html::e('label', ['for' => 'wanted'], $this->t('Address, or a part of it')),
            Html::e('input', ['type' => 'search', 'name' => 'address', 'id' => 'wanted',
                'value' => $wanted]),
            $this->context->button($this->t('Search'))
        );
    }

    private function adding(): Html
    {
        $options = array_map(fn (string $reason): Html
            => Html::e('option', ['value' => $reason], $this->t($reason)), self::REASONS);
        return $this->context->form('suppress', [], Html::all(
            Html::e('label', ['for' => 'address'], $this->t('Suppress an address')),
            Html::e('input', ['type' => 'email', 'name' => 'address', 'id' => 'address',
                'required' => true]),
            Html::e('label', ['for' => 'reason'], $this->t('Reason')),
            Html::e('select', ['name' => 'reason', 'id' => 'reason'], $options),
            Html::e('label', ['for' => 'scope'], $this->t('List (empty: all mail)')),
            Html::e('input', ['type' => 'text', 'name' => 'scope', 'id' => 'scope',
                'placeholder' => 'list:news']),
            $this->context->button($this->t('Add'))
        ), ['class' => 'row']);
    }
}
