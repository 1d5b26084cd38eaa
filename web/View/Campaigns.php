<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Campaign;
use MailQueue\Cli\Report\Campaigns as Report;
use MailQueue\Internal;
use MailQueue\Web\Html;

/**
 * Campaigns: how far they are, and for admins what can be done with them.
 *
 * @phpstan-import-type Progress from Campaign
 */
final class Campaigns extends View
{
    private const MOST = 50;
    private const EVERY_S = 5;
    /** So many parked mails of all campaigns are looked at. */
    private const PARKED_MOST = 10_000;
    /** What can be done in which state. */
    private const ACTIONS = [
        'draft' => ['start' => 'Start', 'cancel' => 'Cancel'],
        'running' => ['pause' => 'Pause', 'cancel' => 'Cancel', 'retry' => 'Retry failed'],
        'paused' => ['resume' => 'Resume', 'cancel' => 'Cancel'],
        'cancelled' => [],
        'finished' => ['retry' => 'Retry failed'],
    ];

    public function title(): string
    {
        return $this->t('Campaigns');
    }

    public function content(): Html
    {
        return $this->live('list', self::EVERY_S, $this->list(), ['before' => $this->before()]);
    }

    public function part(string $name): ?Html
    {
        return $name === 'list' ? $this->list() : null;
    }

    /** The id that the page of the list begins before; null: it begins with the newest. */
    private function before(): ?int
    {
        $text = $this->context->request->text('before') ?? '';
        return preg_match('/\A[1-9]\d{0,17}\z/', $text) === 1 ? (int) $text : null;
    }

    private function list(): Html
    {
        ['campaigns' => $all, 'isPart' => $isPart] = Internal::campaigns(
            $this->context->queue,
            self::MOST,
            $this->before() ?? 0,
            self::PARKED_MOST
        );
        if ($all === []) {
            return Html::e('p', ['class' => 'note'], $this->t('There is no campaign. "mailqueue '
                . 'campaign create" makes one.'));
        }
        $head = ['campaign' => 'Campaign', 'status' => 'Status', 'progress' => 'Progress',
            'rate' => 'An hour', 'next' => 'Expected end', 'failed' => 'Failed'];
        $head += $this->context->isAdmin() ? ['do' => 'Action'] : [];
        return Html::all(
            self::table(
                $this->title(),
                array_map($this->t(...), $head),
                array_map(fn (array $of): array => $this->row($of, $isPart), $all)
            ),
            count($all) < self::MOST ? null : Html::e(
                'a',
                ['rel' => 'next', 'href' => $this->context->links->to(
                    'campaigns',
                    ['before' => end($all)['id']]
                )],
                $this->t('Older ones')
            )
        );
    }

    /**
     * @param Progress $of
     * @param bool $isPart whether some of those that are gone may be parked
     * @return array<string, Html|string>
     */
    private function row(array $of, bool $isPart): array
    {
        $links = $this->context->links;
        $texts = $this->context->texts;
        $failed = $of['refused'] + $of['parked'];
        $most = $failed + ($isPart ? $of['gone'] : 0);
        $cells = [
            'campaign' => Html::e(
                'a',
                ['href' => $links->to('mails', ['campaign' => $of['name']])],
                $of['name']
            ),
            'status' => Html::e('span', ['class' => "status $of[state]"], $this->t($of['state'])),
            'progress' => $this->progress($of, $isPart),
            'rate' => $of['perHour'] === null ? '–' : $texts->number($of['perHour']),
            'next' => $this->end($of),
            'failed' => $most === 0 ? '0' : Html::e('a', ['href' => $links->to(
                'mails',
                ['status' => 'parked', 'campaign' => $of['name']]
            )], match (true) {
                $most === $failed => $texts->number($failed),
                // Most of the others were deleted as it was cancelled.
                $of['state'] === 'cancelled' => $this->t('%s or more', $texts->number($failed)),
                default => $this->t('%s to %s', $texts->number($failed), $texts->number($most)),
            }),
        ];
        return $cells + ($this->context->isAdmin() ? ['do' => $this->buttons($of, $most)] : []);
    }

    /** @param Progress $of */
    private function progress(array $of, bool $isPart): Html
    {
        $texts = $this->context->texts;
        $done = Report::done($of);
        $more = [];
        foreach (['suppressed', 'gone', 'uncertain'] as $word) {
            if ($of[$word] > 0 && ($word !== 'gone' || !$isPart)) {
                $more[] = $texts->number($of[$word]) . ' ' . $this->t($word);
            }
        }
        return Html::all(
            Html::e('progress', ['max' => max(1, $of['recipients']), 'value' => $done,
                'aria-label' => $this->t('Progress of %s', $of['name'])]),
            Html::e('span', [], $this->t(
                '%s of %s',
                $texts->number($done),
                $texts->number($of['recipients'])
            )),
            $more === [] ? null : Html::e('small', [], implode(', ', $more))
        );
    }

    /** @param Progress $of */
    private function end(array $of): string
    {
        $texts = $this->context->texts;
        return match (true) {
            $of['state'] === 'running' && (int) $of['startAt'] > time()
                => $this->t('starts at %s', $texts->time($of['startAt'])),
            Report::isCut($of) => $this->t(
                'expires in %s, before all is sent',
                $texts->span($of['endsAt'] - time())
            ),
            $of['endsAt'] !== null => $this->t('in %s', $texts->span($of['endsAt'] - time())),
            default => $of['state'] === 'finished' ? $texts->time($of['finishedAt']) : '–',
        };
    }

    /** @param Progress $of */
    private function buttons(array $of, int $failed): Html
    {
        $buttons = [];
        foreach (self::ACTIONS[$of['state']] ?? [] as $action => $word) {
            if (($action === 'retry' && $failed === 0)
                || ($action === 'start' && $of['recipients'] === 0)) {
                continue;
            }
            $buttons[] = Html::e(
                'button',
                ['type' => 'submit', 'name' => 'action', 'value' => "campaign-$action",
                    'aria-label' => $this->t($word) . ": $of[name]",
                    'class' => $action === 'cancel' ? 'danger' : null],
                $this->t($word)
            );
        }
        return $buttons === [] ? Html::all()
            : $this->context->form('', ['name' => $of['name']], $buttons, ['class' => 'row']);
    }
}
