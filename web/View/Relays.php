<?php

declare(strict_types=1);

namespace MailQueue\Web\View;

use MailQueue\Cli\Report\Pauses;
use MailQueue\Cli\Report\SlowDomains;
use MailQueue\Web\Figures;
use MailQueue\Web\Html;
use MailQueue\Web\Meaning;

/** The relays, and what is wrong with them. */
final class Relays extends View
{
    public function title(): string
    {
        return $this->t('Relays');
    }

    public function content(): Html
    {
        $attempts = Figures::relays($this->context->queue);
        $pauses = Pauses::of($this->context->queue);
        $found = $this->kept('mailRelayPipelining');
        $names = array_map(strval(...), array_keys($attempts + $pauses + $found));
        $domains = $this->domains();
        if ($names === []) {
            return Html::all(
                Html::e('p', ['class' => 'note'], $this->t('No relay is known yet. '
                . 'With the history (mailHistoryDays), relays appear here once they were used.')),
                $domains
            );
        }
        return Html::all(Html::all(array_map(fn (string $name): Html => Html::e(
            'section',
            ['class' => 'relay'],
            Html::e('h2', [], $name),
            $this->pause($pauses[$name] ?? null),
            $this->results($attempts[$name] ?? []),
            $this->group($found[$name] ?? '')
        ), $names)), $domains);
    }

    /** The domains of recipients whose mail is slowed down; null: none. */
    private function domains(): ?Html
    {
        $sections = [];
        foreach (SlowDomains::of($this->context->queue) as $domain => $slow) {
            [$meaning, $cure] = Meaning::of($slow['reply']);
            $sections[] = Html::e(
                'section',
                ['class' => 'relay'],
                Html::e('h2', [], $this->t('Mail to %s', $domain)),
                Html::e('p', ['class' => 'state troubles'], $this->t(
                    'Slowed down to one mail in %s s: %s %% of its recent recipients were deferred '
                    . 'or refused.',
                    $this->context->texts->number($slow['pause']),
                    $this->context->texts->number($slow['percent'])
                )),
                Html::e('blockquote', [], $slow['reply']),
                Html::e('p', [], Html::e('b', [], $this->t($meaning)), ' ', $this->t($cure)),
                Html::e('p', ['class' => 'note'], $this->t('It goes faster again when more of it '
                    . 'is accepted. The setting mailSlowdown says how many may fail.'))
            );
        }
        return $sections === [] ? null : Html::all($sections);
    }

    /** @return array<string, string> */
    private function kept(string $key): array
    {
        $kept = json_decode((string) $this->context->queue->config($key), true);
        return array_filter(is_array($kept) ? $kept : [], is_string(...));
    }

    /** @param array{until: int, trial: int, reason: string}|null $pause */
    private function pause(?array $pause): Html
    {
        if ($pause === null) {
            return Html::e('p', ['class' => 'state good'], $this->t('In use.'));
        }
        [$meaning, $cure] = Meaning::of($pause['reason']);
        return Html::all(
            Html::e('p', ['class' => 'state troubles'], $this->t(
                'Paused until %s, trial %s.',
                $this->context->texts->time($pause['until']),
                (string) $pause['trial']
            )),
            Html::e('blockquote', [], $pause['reason']),
            Html::e('p', [], Html::e('b', [], $this->t($meaning)), ' ', $this->t($cure))
        );
    }

    /** @param array<string, int> $events */
    private function results(array $events): ?Html
    {
        $facts = [];
        foreach ($events as $event => $count) {
            $facts[$this->t($event)] = $this->context->texts->number($count);
        }
        return $facts === [] ? null : Html::all(
            Html::e('h3', [], $this->t('Of the last 10,000 attempts')),
            self::facts($facts)
        );
    }

    private function group(string $found): ?Html
    {
        return !preg_match('/\Agroup (\d{1,11})\z/', $found, $match)
            || (int) $match[1] <= time() ? null : Html::e('p', ['class' => 'note'], $this->t(
                'It failed when a mail was started before it '
                . 'had answered the previous one. Until %s each mail waits for that answer.',
                $this->context->texts->time((int) $match[1])
            ));
    }
}
