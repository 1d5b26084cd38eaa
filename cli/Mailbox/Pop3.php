<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;

/** A mailbox, by POP3 (RFC 1939). Deleted messages go when the session ends, and only then. */
final class Pop3 implements Mailbox
{
    /** Lines of a message that is larger than what is needed of it. */
    private const LINES = 4000;
    private const LIST_MAX = 16_777_216;

    /** @var array<int, int> octets of each message */
    private array $sizes = [];
    /** @var list<string> */
    private array $capabilities = [];

    /**
     * @throws Stop
     * @throws Refused if the login is refused
     */
    public function __construct(
        private readonly Address $at,
        Login $login,
        private readonly Wire $wire,
    ) {
        $greeting = $wire->line();
        str_starts_with($greeting, '+OK')
            || throw $wire->trouble("does not greet as POP3 does: $greeting");
        $this->capabilities();
        if ($at->wantsStartTls) {
            in_array('STLS', $this->capabilities, true) || throw new Stop(
                "$at->shown offers no TLS. Use pop3s://, or allow a login in clear with ?tls=none.",
                ExitCode::UNAVAILABLE
            );
            $this->ask('STLS');
            $wire->startTls();
            $this->capabilities();
        }
        $this->logIn($login);
    }

    private function capabilities(): void
    {
        try {
            $this->exchange('CAPA');
            $this->capabilities = array_map(strtoupper(...), explode("\n", $this->lines()));
        } catch (Refused) { // an old server
            $this->capabilities = [];
        }
    }

    /** @throws Refused */
    private function logIn(Login $login): void
    {
        $sasl = implode(' ', preg_grep('/\ASASL /', $this->capabilities) ?: []);
        $mechanism = $login->mechanism(array_slice(explode(' ', $sasl), 1));
        if ($mechanism !== null) {
            $answers = [$login->first($mechanism), Login::last($mechanism)];
            $this->exchange("AUTH $mechanism", $answers);
            return;
        }
        $this->exchange("USER {$this->at->user}");
        $this->exchange("PASS $login->password");
    }

    public function messages(): array
    {
        $this->ask('LIST');
        preg_match_all('/^(\d+) (\d+)/m', $this->lines(self::LIST_MAX), $found);
        $this->sizes = array_combine(
            array_map(intval(...), $found[1]),
            array_map(intval(...), $found[2])
        );
        return array_reverse($found[1]);
    }

    public function read(string $name): ?string
    {
        $isLarge = ($this->sizes[(int) $name] ?? 0) > self::OCTETS;
        try {
            $this->exchange($isLarge && in_array('TOP', $this->capabilities, true)
                ? "TOP $name " . self::LINES : "RETR $name");
        } catch (Refused) {
            return null;
        }
        return $this->lines();
    }

    public function mark(string $name): void
    {
    }

    public function remove(string $name): void
    {
        $this->ask("DELE $name");
    }

    public function close(): void
    {
        $this->ask('QUIT');
        $this->wire->close();
    }

    // ---- the protocol

    private function ask(string $command): void
    {
        $this->wire->ask($this->exchange(...), $command);
    }

    /**
     * @param list<string> $more lines for what the server asks
     * @throws Refused
     */
    private function exchange(
        #[\SensitiveParameter] string $command,
        #[\SensitiveParameter] array $more = [],
    ): void {
        $this->wire->say($command);
        while (str_starts_with($line = $this->wire->line(), '+ ') || $line === '+') {
            $this->wire->say(array_shift($more) ?? '*');
        }
        str_starts_with($line, '+OK')
            || throw new Refused((string) preg_replace('/\A-ERR */', '', $line));
    }

    /** The lines of an answer up to its dot; of more than $most octets the first. */
    private function lines(int $most = self::OCTETS): string
    {
        $text = '';
        while (($line = $this->wire->line()) !== '.') {
            if (strlen($text) < $most) {
                $text .= (str_starts_with($line, '.') ? substr($line, 1) : $line) . "\n";
            }
        }
        return $text;
    }
}
