<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Campaign;
use MailQueue\Cli\Report\Campaigns as Report;
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
        $all = $this->context->queue->campaigns(self::MOST, $this->before() ?? 0);
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
                array_map($this->row(...), $all)
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
     * @return array<string, Html|string>
     */
    private function row(array $of): array
    {
        $links = $this->context->links;
        $texts = $this->context->texts;
        $failed = $of['refused'] + $of['parked'];
        $cells = [
            'campaign' => Html::e(
                'a',
                ['href' => $links->to('mails', ['campaign' => $of['name']])],
                $of['name']
            ),
            'status' => Html::e('span', ['class' => "status $of[state]"], $this->t($of['state'])),
            'progress' => $this->progress($of),
            'rate' => $of['perHour'] === null ? '–' : $texts->number($of['perHour']),
            'next' => $this->end($of),
            'failed' => $failed === 0 ? '0' : Html::e('a', ['href' => $links->to(
                'mails',
                ['status' => 'parked', 'campaign' => $of['name']]
            )], $texts->number($failed)),
        ];
        return $cells + ($this->context->isAdmin() ? ['do' => $this->buttons($of, $failed)] : []);
    }

    /** @param Progress $of */
    private function progress(array $of): Html
    {
        $texts = $this->context->texts;
        $done = Report::done($of);
        $more = [];
        foreach (['suppressed', 'gone', 'uncertain'] as $word) {
            $of[$word] === 0 || $more[] = $texts->number($of[$word]) . ' ' . $this->t($word);
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
