<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Cli\Command\Status;
use MailQueue\Stats;
use MailQueue\Web\Context;
use MailQueue\Web\Html;
use MailQueue\Web\Layout;
use MailQueue\Web\Troubles;

/** The overview's forms: sending, limit, batch, test mode, failed mail. */
final class Switches
{
    public function __construct(private readonly Context $context)
    {
    }

    public function html(Stats $stats): Html
    {
        return Html::all(
            Html::e('h2', [], $this->context->t('Switches')),
            Html::e(
                'div',
                ['class' => 'switches'],
                $this->sending($stats),
                $this->failed($stats),
                $this->limit($stats),
                $this->batch($stats),
                $this->testMode($stats)
            ),
        );
    }

    private function box(string $title, mixed ...$content): Html
    {
        return Html::e('section', [], Html::e('h3', [], $title), ...$content);
    }

    private function sending(Stats $stats): Html
    {
        $t = $this->context->t(...);
        $move = $stats->enabled ? null : (new Troubles($this->context))->move();
        return $move !== null ? $this->box($t('Sending'), Html::e('p', [], $move)) : $this->box(
            $t('Sending'),
            Html::e('p', [], $stats->enabled
            ? $t('Mail is sent.') : $t('Mail is accepted and waits.')),
            $this->context->form(
                'switch',
                ['to' => $stats->enabled ? 'off' : 'on'],
                $this->context->button(
                    $stats->enabled ? $t('Switch off') : $t('Switch on'),
                    $stats->enabled ? 'danger' : 'primary',
                    $t('Sending')
                )
            )
        );
    }

    private function failed(Stats $stats): Html
    {
        $t = $this->context->t(...);
        $count = $stats->failed + $stats->parked;
        $mails = $this->context->texts->mails(
            $count,
            array_intersect(['failed', 'parked'], $stats->estimated) !== []
        );
        return $this->box(
            $t('Failed mail'),
            Html::e('p', [], $t('%s failed or parked. Mail that '
            . 'a person parked, and mail that was parked as uncertain, stays.', $mails)),
            $count === 0 ? null : $this->context->form(
                'retry-all',
                [],
                $this->context->button($t('Bring all failed mail back'), 'primary')
            )
        );
    }

    private function limit(Stats $stats): Html
    {
        $t = $this->context->t(...);
        $shown = $stats->limit === 0 ? 60 : min(60, $stats->limit);
        return $this->box(
            $t('Limit'),
            Html::e('p', [], $stats->limit === 0 ? $t('No limit is set.')
            : $t('%s recipients an hour.', $this->context->texts->number($stats->limit))),
            $this->context->form('limit', [], Html::all(
                Html::e('label', ['for' => 'slider'], $t('1 to 60 an hour')),
                Html::e('input', ['type' => 'range', 'min' => 1, 'max' => 60, 'name' => 'limit',
                    'id' => 'slider', 'value' => $shown]),
                Html::e('output', ['for' => 'slider', 'hidden' => true], (string) $shown),
                $this->context->button($t('Set'), of: $t('1 to 60 an hour'))
            ), ['class' => 'row']),
            $this->context->form('limit', [], Html::all(
                Html::e('label', ['for' => 'limit'], $t('Another number')),
                Html::e('input', ['type' => 'text', 'inputmode' => 'numeric', 'name' => 'limit',
                    'id' => 'limit', 'value' => $stats->limit ?: '', 'size' => 9]),
                $this->context->button($t('Set'), of: $t('Another number'))
            ), ['class' => 'row']),
            $stats->limit === 0 ? null : $this->context->form(
                'limit',
                ['limit' => 'none'],
                $this->context->button($t('Remove the limit'), 'quiet')
            )
        );
    }

    private function batch(Stats $stats): Html
    {
        $t = $this->context->t(...);
        $now = $this->context->queue->config('mailBurst') ?? ($stats->burst ?: '');
        return $this->box(
            $t('Batch size'),
            Html::e('p', [], $t('Recipients that may be sent at once '
            . 'after a quiet time. It only counts where there is a limit.')),
            $this->context->form('set', ['key' => 'mailBurst'], Html::all(
                Html::e('label', ['for' => 'burst'], $t('Recipients')),
                Html::e('input', ['type' => 'text', 'inputmode' => 'numeric', 'name' => 'value',
                    'id' => 'burst', 'size' => 9,
                    'value' => $now]),
                $this->context->button($t('Set'), of: $t('Batch size'))
            ), ['class' => 'row'])
        );
    }

    private function testMode(Stats $stats): Html
    {
        $t = $this->context->t(...);
        $title = $t('Test mode');
        if (Status::machine('REDIRECT_TO') !== null) {
            return $this->box($title, Html::e('p', [], $t('This machine decides: '
                . 'MAILQUEUE_REDIRECT_TO is set, so a test mode of the database does not count.')));
        }
        $queue = $this->context->queue;
        $key = Status::redirectKey($queue);
        $set = (string) $queue->config($key);
        $isSet = $set !== '' && $set !== '0';
        $waits = $t('Waiting now: %s.', $this->context->texts->mails(
            $stats->pending + $stats->failed,
            array_intersect(['pending', 'failed'], $stats->estimated) !== []
        ));
        return $this->box(
            $title,
            Html::e('p', [], $this->whereTo($stats->redirectTo, $isSet)),
            Html::e('p', [], $waits),
            $this->context->form('redirect', [], Html::all(
                Html::e('label', ['for' => 'redirect'], $t('Address, or @domain')),
                Html::e('input', ['type' => 'text', 'name' => 'to', 'id' => 'redirect',
                    'value' => $isSet ? (string) ($stats->redirectTo ?? $set) : '',
                    'autocomplete' => 'off', 'required' => true]),
                $this->context->button($t('Switch on'), of: $title)
            ), ['class' => 'row']),
            !$isSet ? null : $this->context->form(
                'redirect-off',
                [],
                $this->context->button($t('Switch test mode off'), 'danger')
            )
        );
    }

    private function whereTo(?string $to, bool $isSet): string
    {
        $types = Layout::redirectTypes($this->context->queue);
        return match (true) {
            $to !== null => $this->context->t('Mail of these types goes to %s, not to its '
                . 'recipients: %s.', $to, $types),
            $isSet => $this->context->t('Mail goes to its recipients at this time, by mailLiveFrom '
                . 'and mailLiveUntil.'),
            default => $this->context->t('Mail goes to its recipients. With an address here, mail '
                . 'of these types would go to it instead, also mail that waits already: '
                . '%s.', $types),
        };
    }
}
