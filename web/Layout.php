<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Command\Status;
use MailQueue\Internal;

/** The frame around each view. */
final class Layout
{
    private const VIEWS = ['overview' => 'Overview', 'mails' => 'Mails', 'uncertain' => 'Uncertain',
        'campaigns' => 'Campaigns', 'relays' => 'Relays', 'suppressions' => 'Suppressions',
        'settings' => 'Settings'];
    /** Views that are shown once these tables have a row. */
    private const IF_ANY = ['campaigns' => '{M}', 'suppressions' => '{Z}'];
    private const VIEWPORT = 'width=device-width, initial-scale=1';
    /** What an action did, by the word that its redirect names. */
    private const DONE = [
        'retry' => '%s brought back.', 'hold' => '%s parked.', 'delete' => '%s deleted.',
        'sent' => '%s counted as sent.',
        'resend' => 'Sent again as this new mail.', 'set' => 'Saved.', 'on' => 'Sending is on.',
        'suppress' => 'The address is suppressed.', 'unsuppress' => 'The suppression is removed.',
        'start' => 'The campaign is started.', 'pause' => 'The campaign is paused.',
        'resume' => 'The campaign goes on.', 'cancel' => 'The campaign is cancelled.',
        'off' => 'Sending is off. Mail that is under way is still finished.',
    ];

    public function __construct(private readonly Texts $texts, private readonly Links $links)
    {
    }

    public function page(Context $context, string $title, Html $content): string
    {
        $items = [];
        $now = $context->request->view();
        foreach (self::VIEWS as $view => $name) {
            $table = self::IF_ANY[$view] ?? null;
            if ($table !== null && $view !== $now
                && Internal::select($context->queue, "SELECT 1 FROM $table LIMIT 1") === []) {
                continue;
            }
            $items[] = Html::e('li', [], Html::e('a', ['href' => $this->links->to($view),
                'aria-current' => $view === $now ? 'page' : null], $this->texts->t($name)));
        }
        $leave = $context->session->isLoggedIn()
            ? $context->form('log-out', [], $context->button($this->texts->t('Log out'), 'quiet'))
            : null;
        $header = Html::e(
            'header',
            [],
            Html::e(
                'a',
                ['href' => '#main', 'class' => 'skip'],
                $this->texts->t('To the content')
            ),
            Html::e('strong', ['class' => 'name'], 'mailqueue'),
            Html::e('nav', ['aria-label' => $this->texts->t('Views')], Html::e('ul', [], $items)),
            Html::e('div', ['class' => 'user'], Html::e('span', [], $context->user), $leave)
        );
        return $this->document($title, $header, Html::all(
            $this->testMode($context),
            $this->notice($context->request),
            Html::e('h1', [], $title),
            $content
        ));
    }

    /** A page of one sentence: a refusal, an error, a link. */
    public function sentence(string $title, string|Html $text, bool $isFault): string
    {
        $header = Html::e('header', [], Html::e('strong', ['class' => 'name'], 'mailqueue'));
        return $this->document($title, $header, Html::all(
            Html::e('h1', [], $title),
            Html::e('p', ['class' => $isFault ? 'lead alarm' : 'lead', 'role' => 'alert'], $text)
        ));
    }

    public function document(string $title, Html $header, Html $main): string
    {
        $languages = [];
        foreach (Texts::LANGUAGES as $code => $name) {
            $href = $this->links->to('overview', ['language' => $code]);
            $languages[] = Html::e('a', ['href' => $href,
                'lang' => $code, 'hreflang' => $code], $name);
        }
        $head = Html::all(
            Html::e('meta', ['charset' => 'utf-8']),
            Html::e('title', [], "$title · mailqueue"),
            Html::e('meta', ['name' => 'viewport', 'content' => self::VIEWPORT]),
            Html::e('meta', ['name' => 'color-scheme', 'content' => 'light dark']),
            Html::e('link', ['rel' => 'icon', 'href' => $this->links->to('page.svg')]),
            Html::e('link', ['rel' => 'stylesheet', 'href' => $this->links->to('page.css')]),
            Html::e('script', ['src' => $this->links->to('page.js'), 'defer' => true])
        );
        return Html::document($this->texts->language, $head, Html::e(
            'body',
            [],
            $header,
            Html::e('main', ['id' => 'main', 'tabindex' => '-1'], $main),
            Html::e(
                'footer',
                [],
                'mailqueue ' . phpversion('mailqueue'),
                Html::e('span', [], $languages)
            )
        ));
    }

    private function notice(Request $request): ?Html
    {
        $text = self::DONE[$request->text('done') ?? ''] ?? null;
        return $text === null ? null : Html::e(
            'p',
            ['class' => 'done', 'role' => 'status'],
            $this->texts->t($text, $this->texts->mails((int) $request->text('count')))
        );
    }

    /** In red: mail does not go to its recipients. */
    private function testMode(Context $context): ?Html
    {
        $queue = $context->queue;
        $to = $context->stats()->redirectTo;
        if ($to === null) {
            return null;
        }
        $ofMachine = Status::machine('REDIRECT_TO') !== null;
        $but = $ofMachine ? Status::machine('ALLOW_TO') : null;
        $text = $ofMachine ? $this->texts->t('Test mode of this machine: all mail goes to %s, not '
            . 'to its recipients (%s).', $to, 'MAILQUEUE_REDIRECT_TO')
            : $this->texts->t('Test mode: mail of these types goes to %s, not to its recipients: '
            . '%s (%s).', $to, self::redirectTypes($queue), Status::redirectKey($queue));
        return Html::e('p', ['class' => 'alarm', 'role' => 'alert'], $text, $but === null ? null
            : ' ' . $this->texts->t('Only these still get theirs: %s.', $but));
    }

    public static function redirectTypes(MailQueue $queue): string
    {
        return (string) $queue->config('mailRedirectTypes')
            ?: MailQueue::configKeys()['mailRedirectTypes']['default'];
    }
}
