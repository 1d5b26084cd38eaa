<?php

declare(strict_types=1);

namespace MailQueue\Web;

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
        return array_values(array_filter([
            $stats->enabled ? null : [$t('Sending is switched off.'),
                $t('Mail is accepted and waits. Switch sending on below.')],
            $stats->due > 0 && $workers === 0 && $silence > self::SILENT && $stats->enabled
                ? [$stats->lastRunAt === null ? $t('No worker has run yet.')
                    : $t('No worker has run for %s.', $texts->span($silence)),
                    $t('Mail is due. Start "mailqueue work", or look at cron; "mailqueue doctor" '
                        . 'finds out why.')] : null,
            $stats->pausedUntil === null ? null : $this->pause($stats),
            $stats->parked === 0 ? null : [$t(
                '%s wait for a decision.',
                $texts->mails($stats->parked)
            ), Html::e('a', ['href' => $this->context->links->to(
                'mails',
                ['status' => 'parked']
            )], $t('See the parked mails.'))],
        ]));
    }

    /** @return array{string, string} */
    private function pause(Stats $stats): array
    {
        $reason = (string) $stats->pauseReason;
        [, $cure] = Meaning::of($reason);
        return [$this->context->t(
            'The relay %s is paused until %s: %s',
            (string) $stats->pausedRelay,
            $this->context->texts->time($stats->pausedUntil),
            rtrim($reason, '.') . '.'
        ),
            $this->context->t($cure)];
    }
}
