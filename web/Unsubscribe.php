<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Bounce\Token;
use MailQueue\Cli\Terminal;

/**
 * Where the links of `'unsubscribe' => ['list' => …, 'url' => …]` lead: GET shows a button, POST
 * unsubscribes, from the button or from a mail program (RFC 8058). Needs no login and no cookie.
 *
 *     (new MailQueue\Web\Unsubscribe($queue))->handle();
 */
final class Unsubscribe
{
    private const VERSION = "\x01";
    private const MAC = 16; // octets; as in src/mime/unsubscribe.c
    private const DAY_S = 86400;
    private const CSP = "default-src 'none'; style-src 'sha256-%s'; form-action 'self'; "
        . "base-uri 'none'; frame-ancestors 'none'";
    private const STYLE = ':root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;'
        . 'max-width:32rem;margin:4rem auto;padding:0 1rem}h1{font-size:1.4rem}button{font:inherit;'
        . 'padding:.6rem 1.2rem;cursor:pointer}';

    /**
     * @param MailQueue|\Closure(): MailQueue $queue a Closure is called if there is a token
     * @param array<string, string> $names of the lists, for people: 'news' => 'Our newsletter'
     * @param (\Closure(string $address, string $scope): void)|null $then is called after somebody
     *     has unsubscribed, again if they do it again; what it throws is logged
     * @param int $maxDays how long a link is good after its mail was made
     */
    public function __construct(
        private readonly MailQueue|\Closure $queue,
        private readonly array $names = [],
        private readonly ?\Closure $then = null,
        private readonly int $maxDays = 3650,
    ) {
    }

    /** @return array<string, mixed> without the Closures, which can hold secrets */
    public function __debugInfo(): array
    {
        return ['names' => $this->names, 'maxDays' => $this->maxDays];
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
        $texts = Texts::of($request);
        try {
            return $this->answer($request, $texts);
        } catch (Refusal $e) {
            return self::page($texts, $texts->t('That did not work'), $e->status, $e->in($texts));
        } catch (\Throwable $e) {
            Php::log('mailqueue unsubscribe: ' . Terminal::safe($e->getMessage()));
            return self::page($texts, $texts->t('That did not work'), 503, $texts->t('You are '
                . 'not unsubscribed: the database does not answer. Try again in a few minutes.'));
        }
    }

    private function answer(Request $request, Texts $texts): Response
    {
        if (!in_array($request->method(), ['GET', 'HEAD', 'POST'], true)) {
            throw new Refusal($texts->t('This page only knows GET and POST.'), 405);
        }
        $bad = new Refusal($texts->t('This link is not complete, or too old. You are not '
            . 'unsubscribed. Use the link of a newer mail.'), 400);
        $token = self::octets($request->choice('t') ?? '') ?? throw $bad;
        $queue = $this->queue instanceof \Closure ? ($this->queue)() : $this->queue;
        [$scope, $address] = $this->read((string) $queue->config('mailSuppressionKey'), $token)
            ?? throw $bad;
        $list = preg_replace('/\Alist:/', '', $scope) ?? $scope;
        $name = $this->names[$list] ?? $list;
        if (!$request->isPost()) {
            return self::page($texts, $texts->t('Unsubscribe from %s', $name), 200, $texts->t(
                '%s gets no more mail of this list then.',
                self::masked($address)
            ), Html::e('form', ['method' => 'post'], Html::e(
                'button',
                ['type' => 'submit', 'name' => 'List-Unsubscribe', 'value' => 'One-Click'],
                $texts->t('Unsubscribe')
            )));
        }
        if ($request->field('List-Unsubscribe') !== 'One-Click') {
            throw new Refusal($texts->t('This form is not of this page, or it is too old. Nothing '
                . 'was changed. Go back, reload the page and try again.'), 400);
        }
        $queue->suppress($address, 'unsubscribe', $scope, 'unsubscribe link');
        $this->tell($address, $scope);
        return self::page($texts, $texts->t('You are unsubscribed'), 200, $texts->t(
            '%s gets no more mail of the list %s.',
            self::masked($address),
            $name
        ));
    }

    /** If the application fails, the address is unsubscribed all the same, and the page says so. */
    private function tell(string $address, string $scope): void
    {
        try {
            $this->then === null || ($this->then)($address, $scope);
        } catch (\Throwable $e) {
            Php::log('mailqueue unsubscribe, then: ' . Terminal::safe($e->getMessage()));
        }
    }

    /** The octets of a token; null: it has not the form of one, so no database is asked. */
    private static function octets(string $token): ?string
    {
        $octets = base64_decode(strtr($token, '-_', '+/'), true);
        return $octets !== false && strlen($octets) >= 1 + self::MAC + 5
            && $octets[0] === self::VERSION ? $octets : null;
    }

    /**
     * The scope and the address that a token names; null: it is forged, or too old.
     *
     * @return array{string, string}|null
     * @throws \MailQueue\Cli\Stop without the key no token can be read, and none is refused
     */
    private function read(string $secret, string $octets): ?array
    {
        $key = Token::key($secret);
        $mac = substr($octets, 1, self::MAC);
        $text = substr($octets, 1 + self::MAC);
        for ($stream = '', $i = 0; strlen($stream) < strlen($text) && $i < 256; $i++) {
            $stream .= hash_hmac('sha256', "s$mac" . chr($i), $key, true);
        }
        $text ^= $stream;
        $right = substr(hash_hmac('sha256', "m$text", $key, true), 0, self::MAC);
        $day = unpack('n', $text)[1] ?? 0;
        [$scope, $address] = explode("\0", substr($text, 2), 2) + ['', ''];
        $isOld = $day < intdiv(time(), self::DAY_S) - $this->maxDays;
        return hash_equals($right, $mac) && !$isOld ? [$scope, $address] : null;
    }

    /** Enough of the address for its owner, and little for others who see the link. */
    private static function masked(string $address): string
    {
        return (string) preg_replace('/\A(.).*(?=@)/us', '$1…', $address);
    }

    private static function page(
        Texts $texts,
        string $title,
        int $status,
        string $text,
        ?Html $form = null
    ): Response {
        $head = Html::all(
            Html::e('meta', ['charset' => 'utf-8']),
            Html::e('title', [], $title),
            Html::e('meta', ['name' => 'viewport', 'content' => 'width=device-width']),
            Html::e('style', [], self::STYLE)
        );
        $main = Html::e('main', [], Html::e('h1', [], $title), Html::e('p', [], $text), $form);
        $digest = base64_encode(hash('sha256', self::STYLE, true));
        $html = Html::document($texts->language, $head, Html::e('body', [], $main));
        return new Response($html, $status, [
            'Content-Security-Policy' => sprintf(self::CSP, $digest),
            'Referrer-Policy' => 'no-referrer',
        ]);
    }
}
