<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Cli\Command\Status as StatusCommand;
use MailQueue\Cli\Report\Waiting;
use MailQueue\Internal;
use MailQueue\Stats;
use MailQueue\Status;
use MailQueue\Web\Chart;
use MailQueue\Web\Figures;
use MailQueue\Web\Html;
use MailQueue\Web\Troubles;

/** What is going on, and the switches. */
final class Overview extends View
{
    public function title(): string
    {
        return $this->t('Overview');
    }

    public function content(): Html
    {
        return Html::all(
            $this->live('now', 5, $this->now()),
            $this->live('charts', 60, $this->charts()),
            $this->context->isAdmin()
                ? (new Switches($this->context))->html($this->context->stats()) : null,
        );
    }

    public function part(string $name): ?Html
    {
        return match ($name) {
            'now' => $this->now(),
            'charts' => $this->charts(),
            default => null,
        };
    }

    private function now(): Html
    {
        $stats = $this->context->stats();
        $workers = Internal::workers($this->context->queue);
        return Html::all(
            (new Troubles($this->context))->html($stats, $workers),
            Html::e('ul', ['class' => 'counts'], array_map(
                fn (Status $status): Html => $this->count($stats, $status),
                array_filter(Status::cases(), static fn (Status $one): bool
                    => $one !== Status::Held || $stats->held > 0)
            )),
            self::facts($this->figures($stats, $workers)),
        );
    }

    private function count(Stats $stats, Status $status): Html
    {
        return Html::e('li', ['class' => $status->value], Html::e(
            'a',
            ['href' => $this->context->links->to('mails', ['status' => $status->value])],
            Html::e('b', ['id' => "count-$status->value"], $this->number($stats, $status->value)),
            Html::e('span', [], $this->t($status->value)),
        ));
    }

    private function number(Stats $stats, string $name): string
    {
        $number = (int) $stats->{$name};
        $texts = $this->context->texts;
        return in_array($name, $stats->estimated, true) ? $texts->about($number)
            : $texts->number($number);
    }

    /** @param array{limit: string, left: ?int, fullUntil: ?int} $limit */
    private function limit(array $limit): string
    {
        $texts = $this->context->texts;
        return $limit['limit'] . match (true) {
            $limit['left'] === null => '',
            $limit['fullUntil'] === null => ': '
                . $this->t('%s left', $texts->number($limit['left'])),
            default => ': ' . $this->t('full until %s', $texts->time($limit['fullUntil'])),
        };
    }

    /** @return array<string, string> */
    private function figures(Stats $stats, int $workers): array
    {
        $texts = $this->context->texts;
        return array_filter([
            $this->t('Due now') => $this->number($stats, 'due'),
            $this->t('Longest wait') => $stats->oldestWaitingSince === null
                ? $this->t('nothing waits') : $texts->span(time() - $stats->oldestWaitingSince),
            $this->t('Limit') => $stats->limit === 0 ? $this->t('none')
                : $this->t('%s an hour', $texts->number($stats->limit)),
            $this->t('Tokens') => $stats->tokens === null ? null : $this->t(
                '%s of %s',
                $texts->number($stats->tokens, 1),
                $texts->number($stats->burst)
            ) . ($stats->nextTokenAt === null ? '' : ', '
                . $this->t('the next one in %s', $texts->span($stats->nextTokenAt - time())))
                . (StatusCommand::isReserved($stats)
                    ? ', ' . $this->t('kept for mail of priority 0 and above') : ''),
            $this->t('Limits') => $stats->limits === [] ? null
                : implode(', ', array_map($this->limit(...), $stats->limits)),
            $this->t('Empty in') => $stats->emptyIn === null || $stats->due === 0
                || !$stats->enabled || $stats->pausedUntil !== null ? null
                : ($stats->emptyIn === 0 ? $this->t('one run') : $this->t(
                    'about %s',
                    $texts->span($stats->emptyIn)
                )),
            $this->t('Waiting for a limit') => $this->waiting($stats),
            $this->t('Waiting for their hours') => $this->closed($stats),
            $this->t('Workers') => (string) $workers,
            $this->t('Last run') => $stats->lastRunAt === null ? $this->t('never')
                : $texts->ago($stats->lastRunAt),
        ], static fn (?string $text): bool => $text !== null);
    }

    /** How many mails wait for which limit by relay or sender, and until when; null: none. */
    private function waiting(Stats $stats): ?string
    {
        $texts = [];
        foreach (Waiting::of($this->context->queue, $stats) as $limit => $one) {
            $mails = $this->context->texts->mails($one['mails']);
            $mails = $one['isMore'] ? $this->t('%s or more', $mails) : $mails;
            $until = $this->context->texts->time($one['until']);
            $texts[] = "$limit: $mails, " . $this->t('the first until %s', $until);
        }
        return $texts === [] ? null : implode('; ', $texts);
    }

    /** Which types of mail wait for their sending hours, and until when; null: none. */
    private function closed(Stats $stats): ?string
    {
        $texts = [];
        foreach ($stats->closed as $types => $opening) {
            $until = $this->context->texts->time($opening);
            $texts[] = $this->t('%s until %s', (string) $types, $until);
        }
        return $texts === [] ? null : implode('; ', $texts);
    }

    private function charts(): Html
    {
        $queue = $this->context->queue;
        $hour = Figures::hour($queue);
        $rows = Figures::registrations($queue, $this->context->orphanCheck);
        return Html::all(
            Html::e('h2', [], $this->t('Sent')),
            Html::e(
                'div',
                ['class' => 'charts'],
                $hour === null ? Html::e('p', ['class' => 'note'], $this->t('The chart of the last '
                    . 'hour needs the history: set mailHistoryDays in the settings.'))
                    : Chart::bars(
                        $hour[0],
                        $this->t('Last hour, by minute'),
                        'H:i',
                        $this->context->texts,
                        $hour[1]
                    ),
                Chart::bars(
                    Figures::day($queue),
                    $this->t('Last 24 hours'),
                    'H:00',
                    $this->context->texts
                )
            ),
            Html::e('p', ['class' => 'below'], $this->t(
                'Failed in seven days: %s',
                $this->context->texts->number(Figures::failures($queue))
            )),
            $rows === null ? null : Html::e('p', [], $this->t(
                'Registrations in total: %s',
                $rows[1] ? $this->context->texts->about($rows[0])
                    : $this->context->texts->number($rows[0])
            )),
        );
    }
}
