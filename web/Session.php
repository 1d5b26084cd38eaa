<?php

declare(strict_types=1);

namespace MailQueue\Web;

/**
 * The page's cookie: a random number for the forms' tokens and, after the login, a signature with
 * the password's hash as the key, so a new password ends all sessions. The server only keeps the
 * numbers of those that logged out.
 */
final class Session
{
    private const IDLE = 7200;
    private const LONGEST = 43200;
    private const ENDED = 'ended';

    private string $number;
    private int $since = 0;
    private bool $isNew = false;
    /**
     * Whether another site led here without a cookie: the browser may have one, which it keeps back
     * then (SameSite=Strict). A new one would take its place.
     */
    public readonly bool $isHidden;

    public function __construct(
        Request $request,
        private readonly bool $isSecure,
        #[\SensitiveParameter] private readonly string $key,
    ) {
        $parts = explode('.', (string) $request->cookie($this->name()));
        $isOurs = preg_match('/\A[0-9a-f]{32}\z/', $parts[0]) === 1;
        $this->number = $isOurs ? $parts[0] : bin2hex(random_bytes(16));
        $this->isNew = !$isOurs;
        $this->isHidden = !$isOurs && $request->server('HTTP_SEC_FETCH_SITE') === 'cross-site';
        if ($isOurs && count($parts) === 4 && $this->key !== '') {
            [, $since, $seen, $mac] = $parts;
            $isGood = hash_equals($this->mac("$this->number.$since.$seen"), $mac)
                && time() - (int) $seen < self::IDLE && time() - (int) $since < self::LONGEST
                && !$this->hasEnded();
            $this->since = $isGood ? (int) $since : 0;
        }
    }

    /** @return array<string, mixed> without the number and the key */
    public function __debugInfo(): array
    {
        return ['isSecure' => $this->isSecure, 'since' => $this->since, 'isNew' => $this->isNew];
    }

    private function hasEnded(): bool
    {
        $ended = new OwnFile(self::ENDED, 'Without it nobody is let in, because it says who has '
            . 'logged out.');
        return in_array($this->number, array_column($ended->entries(), 1), true);
    }

    /** __Host-: no other host below the same domain can set it. */
    private function name(): string
    {
        return $this->isSecure ? '__Host-mailqueue' : 'mailqueue';
    }

    public function isLoggedIn(): bool
    {
        return $this->since > 0;
    }

    public function logIn(): void
    {
        $this->renew(time());
    }

    public function logOut(): void
    {
        $number = $this->number;
        $this->renew(0);
        $list = new OwnFile(self::ENDED, 'This browser is logged out. But a copy of its cookie '
            . 'stays valid for up to 12 hours, or until the password is another one.');
        $list->change(static fn (array $ended): array => [[
            ...array_values(array_filter($ended, static fn (array $one): bool
                => $one[0] > time() - self::LONGEST)),
            [time(), $number],
        ], null]);
    }

    /** With a new number, so that nobody can use one that was known before the login. */
    private function renew(int $since): void
    {
        $this->number = bin2hex(random_bytes(16));
        $this->since = $since;
        $this->isNew = true;
    }

    /** What each form has in it: only a page of this browser's session can know it. */
    public function token(): string
    {
        return hash_hmac('sha256', "form $this->since", $this->number . $this->key);
    }

    public function accepts(?string $token): bool
    {
        return !$this->isNew && $token !== null && hash_equals($this->token(), $token);
    }

    /** The Set-Cookie header; null: the browser has it already, or may have one. */
    public function cookie(): ?string
    {
        if ($this->isHidden || (!$this->isNew && $this->since === 0)) {
            return null;
        }
        $signed = "$this->number.$this->since." . time();
        $value = $this->since === 0 ? $this->number : "$signed." . $this->mac($signed);
        return $this->name() . "=$value; Path=/; HttpOnly; SameSite=Strict"
            . ($this->isSecure ? '; Secure' : '');
    }

    private function mac(string $text): string
    {
        return hash_hmac('sha256', $text, "mailqueue page $this->key");
    }
}
