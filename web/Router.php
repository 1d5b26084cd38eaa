<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue\Cli\Report\Metrics;

/** Which class answers which view or action. */
final class Router
{
    private const VIEWS = [
        'overview' => View\Overview::class,
        'mails' => View\Mails::class,
        'mail' => View\Mail::class,
        'uncertain' => View\Uncertain::class,
        'campaigns' => View\Campaigns::class,
        'relays' => View\Relays::class,
        'suppressions' => View\Suppressions::class,
        'settings' => View\Settings::class,
    ];
    private const ACTIONS = [
        'switch' => [Action\Config::class, 'switch'],
        'limit' => [Action\Config::class, 'limit'],
        'set' => [Action\Config::class, 'set'],
        'redirect' => [Action\Config::class, 'redirect'],
        'redirect-off' => [Action\Config::class, 'redirectOff'],
        'retry-all' => [Action\Mails::class, 'retryAll'],
        'retry' => [Action\Mails::class, 'retry'],
        'hold' => [Action\Mails::class, 'hold'],
        'delete' => [Action\Mails::class, 'delete'],
        'sent' => [Action\Mails::class, 'sent'],
        'resend' => [Action\Mails::class, 'resend'],
        'campaign-start' => [Action\Campaigns::class, 'start'],
        'campaign-pause' => [Action\Campaigns::class, 'pause'],
        'campaign-resume' => [Action\Campaigns::class, 'resume'],
        'campaign-cancel' => [Action\Campaigns::class, 'cancel'],
        'campaign-retry' => [Action\Campaigns::class, 'retry'],
        'suppress' => [Action\Suppressions::class, 'add'],
        'unsuppress' => [Action\Suppressions::class, 'remove'],
    ];
    private const ASSETS = ['page.css' => 'text/css', 'page.js' => 'text/javascript',
        'page.svg' => 'image/svg+xml'];

    public static function isForPeople(Request $request): bool
    {
        return !in_array($request->view(), ['status.json', 'metrics'], true)
            && $request->choice('part') === null;
    }

    /** The page's style or script, which everybody may read; null: the view is another one. */
    public static function asset(string $view): ?Response
    {
        $type = self::ASSETS[$view] ?? null;
        return $type === null ? null : new Response(
            (string) file_get_contents(__DIR__ . "/assets/$view"),
            200,
            ['Content-Type' => "$type; charset=utf-8", 'Cache-Control' => 'max-age=300']
        );
    }

    public static function answer(Context $context): Response
    {
        if ($context->request->isPost()) {
            return self::act($context);
        }
        $view = $context->request->view();
        return match ($view) {
            'status.json' => Response::json(Figures::status($context->queue)),
            'metrics' => new Response(
                Metrics::text($context->queue),
                200,
                ['Content-Type' => 'text/plain; version=0.0.4; charset=utf-8']
            ),
            'preview', 'text', 'source' => (new Body($context))->response($view),
            default => self::view($context, $view),
        };
    }

    private static function view(Context $context, string $name): Response
    {
        $class = self::VIEWS[$name] ?? throw new Refusal($context->t('There is no view "%s". The '
            . 'overview leads to all views.', $name), 404);
        $view = new $class($context);
        $part = $context->request->choice('part');
        if ($part !== null) {
            $html = $view->part($part) ?? throw new Refusal('No such part.', 404);
            return new Response($html->markup);
        }
        $content = $view->content(); // throws if the mail does not exist
        $layout = new Layout($context->texts, $context->links);
        return new Response($layout->page($context, $view->title(), $content));
    }

    private static function act(Context $context): Response
    {
        $action = $context->request->field('action') ?? '';
        if (!$context->isAdmin()) {
            Journal::note($context->queue, $context->user, 'refused: ' . substr($action, 0, 99));
            throw new Refusal($context->t('You may look, but not change anything. Nothing was '
                . 'changed.'), 403);
        }
        [$class, $method] = self::ACTIONS[$action] ?? throw new Refusal($context->t('There is no '
            . 'action "%s". Nothing was changed.', $action));
        $run = [new $class($context), $method];
        assert(is_callable($run));
        return $run();
    }
}
