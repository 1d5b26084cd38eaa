<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue\Cli\Move\Record;
use MailQueue\Cli\Report\Pauses;
use MailQueue\Stats;

/** What keeps mail from its recipients, in words, each with its cure. */
final class Troubles
{
    private const SILENT = 600;

    public function __construct(private readonly Context $context)
    {
    }

    public function html(Stats $stats, int $workers): Html
    {
        $found = $this->found($stats, $workers);
        if ($found === []) {
            return Html::e('p', ['class' => 'state good'], $this->context->t('All is well.'));
        }
        return Html::e('ul', ['class' => 'state troubles'], array_map(static fn (array $one): Html
            => Html::e('li', [], Html::e('strong', [], $one[0]), ' ', $one[1]), $found));
    }

    /** @return list<array{string, Html|string}> trouble and cure */
    private function found(Stats $stats, int $workers): array
    {
        $t = $this->context->t(...);
        $texts = $this->context->texts;
        $silence = $stats->lastRunAt === null ? PHP_INT_MAX : time() - $stats->lastRunAt;
        $move = $stats->enabled ? null : $this->move();
        return array_values(array_filter([
            $move === null ? null : [$move, $t('"mailqueue doctor" says how to finish the move, or '
                . 'to cancel it.')],
            $stats->enabled || $move !== null ? null : [$t('Sending is switched off.'),
                $t('Mail is accepted and waits. Switch sending on below.')],
            $stats->due > 0 && $workers === 0 && $silence > self::SILENT && $stats->enabled
                ? [$stats->lastRunAt === null ? $t('No worker has run yet.')
                    : $t('No worker has run for %s.', $texts->span($silence)),
                    $t('Mail is due. Start "mailqueue work", or look at cron; "mailqueue doctor" '
                        . 'finds out why.')] : null,
            ...$stats->pausedUntil === null ? [] : $this->pauses(),
            $stats->parked === 0 ? null : [$t(
                'Waiting for a decision: %s.',
                $texts->mails($stats->parked)
            ), Html::e('a', ['href' => $this->context->links->to(
                'mails',
                ['status' => 'parked']
            )], $t('See the parked mails.'))],
        ]));
    }

    /** Says which move to another database keeps the queue from sending; null: none does. */
    public function move(): ?string
    {
        [$key, $record] = Figures::move($this->context->queue);
        return $record === null ? null : $this->context->t(match (true) {
            $key === Record::FROM => 'This queue is being moved here from %s: nothing is sent '
                . 'until all of it has arrived.',
            $record->isOver => 'This queue was moved to %s: nothing is sent from here.',
            default => 'This queue is being moved to %s: nothing is sent from here.',
        }, $record->other);
    }

    /** @return list<array{string, string}> */
    private function pauses(): array
    {
        $texts = [];
        foreach (Pauses::of($this->context->queue) as $relay => $pause) {
            [, $cure] = Meaning::of($pause['reason']);
            $texts[] = [$this->context->t(
                'The relay %s is paused until %s: %s',
                (string) $relay,
                $this->context->texts->time($pause['until']),
                rtrim($pause['reason'], '.') . '.'
            ), $this->context->t($cure)];
        }
        return $texts;
    }
}
