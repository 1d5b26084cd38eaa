<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/**
 * The page. It is closed until $access or a password's hash (MAILQUEUE_PAGE_HASH) is there.
 *
 *     (new MailQueue\Web\Page($queue, access: fn () => $isAdmin ? 'admin' : null))->handle();
 */
final class Page
{
    private readonly Options $options;

    /**
     * @param MailQueue|\Closure(): MailQueue $queue a Closure is called once somebody may see it
     * @param (\Closure(): (string|null))|null $access the application's own login: returns "admin",
     *     "viewer" (sees no messages, changes nothing) or null. null: the password
     * @param string|null $user who is logged in there, for the log
     * @param bool|null $bodies whether admins may read messages; null: MAILQUEUE_PAGE_BODIES
     * @param list<string>|null $proxies trusted addresses; null: MAILQUEUE_PAGE_PROXIES
     * @param array<string, string> $keep parameters of the URL by which the application finds it
     * @param string|null $orphanCheck the queue's, "table.column": its rows are counted
     */
    public function __construct(
        private readonly MailQueue|\Closure $queue,
        private readonly ?\Closure $access = null,
        private readonly ?string $user = null,
        ?bool $bodies = null,
        ?array $proxies = null,
        private readonly array $keep = [],
        private readonly ?string $orphanCheck = null,
    ) {
        $this->options = new Options($bodies, $proxies);
    }

    /**
     * The page of the queue that options of the command line name, such as "--database=/srv/a.db".
     *
     * @param list<string> $options
     * @param (\Closure(): (string|null))|null $access
     */
    public static function of(array $options = [], ?\Closure $access = null): self
    {
        $checks = preg_grep('/^--orphan-check=/', $options) ?: [];
        return new self(
            static fn (): MailQueue
                => (new Settings(new Arguments(['status', ...$options])))->queue(),
            $access,
            orphanCheck: explode('=', (string) end($checks), 2)[1] ?? null,
        );
    }

    /** @return array<string, mixed> without the Closures, which can hold secrets */
    public function __debugInfo(): array
    {
        return ['options' => $this->options, 'user' => $this->user, 'keep' => $this->keep,
            'orphanCheck' => $this->orphanCheck];
    }

    /** Answers the request that PHP has. */
    public function handle(): void
    {
        Php::hideErrors();
        $this->respond()->send();
    }

    /** The same as an object, for frameworks that send responses themselves. */
    public function respond(?Request $request = null): Response
    {
        $request ??= Request::fromGlobals();
        $asset = Router::asset($request->view());
        if ($asset !== null) {
            return $asset; // without a cookie, as caches keep it
        }
        $texts = Texts::of($request);
        $links = new Links($this->keep);
        $gate = new Gate($request, $this->options->proxies);
        $key = $this->access === null ? $this->options->hash : '';
        $session = null;
        try {
            $session = new Session($request, $gate->isSecure, $key);
            $response = $this->answer($request, $texts, $links, $gate, $session);
        } catch (\Throwable $e) {
            $response = self::failed($e, $request, $texts, new Layout($texts, $links));
        }
        // What the script asks for by itself does not keep a session alive.
        $cookie = $request->choice('part') === null ? $session?->cookie() : null;
        $language = $request->choice('language') === null ? null
            : "mailqueue_language=$texts->language; Path=/; SameSite=Strict; Max-Age=31536000";
        $response->cookies = array_values(array_filter([$cookie, $language]));
        return $response;
    }

    private function answer(
        Request $request,
        Texts $texts,
        Links $links,
        Gate $gate,
        Session $session
    ): Response {
        if (!extension_loaded('mailqueue')) {
            throw new Refusal($texts->t('This PHP has not loaded the extension mailqueue. Enable '
                . 'it for this server (on Debian: phpenmod mailqueue), then start the server '
                . 'again.'), 503);
        }
        $refusal = $gate->refusal($texts)
            ?? ($this->access === null ? $this->whyClosed($texts) : null);
        if ($refusal !== null) {
            throw new Refusal($refusal, 403);
        }
        if (!in_array($request->method(), ['GET', 'HEAD', 'POST'], true)) {
            throw new Refusal($texts->t('This page only knows GET and POST.'), 405);
        }
        if ($session->isHidden && !$request->isPost() && Router::isForPeople($request)) {
            return self::again($texts, new Layout($texts, $links));
        }
        $isOwn = !$gate->isForeign() && $session->accepts($request->field('token'));
        if ($request->isPost() && !$isOwn) {
            throw new Refusal($texts->t('This form is not of this page, or it is too old. Nothing '
                . 'was changed. Go back, reload the page and try again.'), 403);
        }
        $login = new Login($texts, new Layout($texts, $links), $links, $session);
        $role = $this->access !== null ? ($this->access)()
            : ($session->isLoggedIn() ? 'admin' : null);
        if ($role === null && $this->access === null && Router::isForPeople($request)) {
            return $request->isPost() && $request->field('action') === 'log-in'
                ? $login->check($request, $this->options->hash, $gate->address) : $login->form();
        }
        if (!in_array($role, ['admin', 'viewer'], true)) {
            throw new Refusal($texts->t('You may not see this page. Log in first.'), 403);
        }
        if ($session->isLoggedIn() && $request->field('action') === 'log-out') {
            $session->logOut();
            Journal::note(null, "admin@$gate->address", 'logged out');
            return Response::redirect($links->to('overview'));
        }
        $user = $this->user ?? $role;
        return Router::answer(new Context(
            $this->queue instanceof \Closure ? ($this->queue)() : $this->queue,
            $request,
            $texts,
            $links,
            $session,
            $role,
            $this->access === null ? "$user@$gate->address" : $user,
            $this->options->bodies,
            $this->orphanCheck,
        ));
    }

    /** The same request once more, but from this page: the browser sends its cookie then. */
    private static function again(Texts $texts, Layout $layout): Response
    {
        $link = Html::e('a', ['href' => ''], $texts->t('Go on to the page'));
        $page = $layout->sentence($texts->t('You come from another site'), $link, false);
        return new Response($page, 200, ['Refresh' => '0']);
    }

    private function whyClosed(Texts $texts): ?string
    {
        return match (true) {
            $this->options->hash === '' => $texts->t('This page is closed. Give it a password: '
                . '"mailqueue page --password" makes a hash for MAILQUEUE_PAGE_HASH. Or pass '
                . '"access" to the page, behind your own login.'),
            password_get_info($this->options->hash)['algo'] === null => $texts->t('This page is '
                . 'closed: MAILQUEUE_PAGE_HASH is not a hash of a password. "mailqueue page '
                . '--password" makes one; a shell needs single quotes around its "$".'),
            default => null,
        };
    }

    /** Some texts begin with the name of a setting, others with a small letter. */
    private static function sentence(string $text): string
    {
        return preg_match('/\A[a-z]+ /', $text) === 1 ? ucfirst($text) : $text;
    }

    private static function failed(
        \Throwable $e,
        Request $request,
        Texts $texts,
        Layout $layout
    ): Response {
        $isOurs = $e instanceof Stop || $e instanceof MailQueue\Exception
            || $e instanceof \ValueError;
        $status = $e instanceof Refusal ? $e->status : ($e instanceof \ValueError ? 400
            : ($isOurs ? 503 : 500));
        $isKnown = $isOurs || $e instanceof Refusal;
        $text = match (true) {
            $e instanceof Refusal => $e->in($texts),
            $isOurs => Failure::text($e),
            default => $texts->t("An error that the page does not know. PHP's error log says "
                . 'more.'),
        };
        if ($status >= 500) {
            Php::log('mailqueue page: ' . ($isKnown ? Terminal::safe($text) : $e));
        }
        if (!Router::isForPeople($request)) {
            return Response::json(['error' => $text], $status);
        }
        $title = $texts->t('That did not work');
        $text = self::sentence($text);
        return new Response($layout->sentence($title, $text, $status >= 500), $status);
    }
}
