<?php

declare(strict_types=1);

namespace MailQueue\Cli\Mailbox;

use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** A folder, by IMAP (RFC 3501). Messages are named by their UIDs. */
final class Imap implements Mailbox
{
    /** What was read has this keyword, so that people may read the mail too. */
    private const KEYWORD = '$MailqueueRead';
    private const AT_ONCE = 50;

    private int $tag = 0;
    /** @var list<string> */
    private array $capabilities = [];
    private bool $keepsKeywords = false;
    /** @var list<string> */
    private array $marked = [];
    /** @var list<string> */
    private array $removed = [];
    /** Why messages were not moved, and why one was not given. */
    private ?string $refused = null;
    private ?string $withheld = null;
    private bool $gives = false;

    /**
     * @param string|null $target the folder where remove() moves messages to; null: it deletes them
     * @throws Stop
     * @throws Refused if the login is refused
     */
    public function __construct(
        private readonly Address $at,
        Login $login,
        private readonly ?string $target,
        private readonly Wire $wire,
    ) {
        $greeting = $wire->line();
        preg_match('/\A\* OK/i', $greeting) === 1
            || throw $wire->trouble("does not greet as IMAP does: $greeting");
        $this->capabilities();
        if ($at->wantsStartTls) {
            in_array('STARTTLS', $this->capabilities, true) || throw new Stop(
                "$at->shown offers no TLS. Use imaps://, or allow a login in clear with ?tls=none.",
                ExitCode::UNAVAILABLE
            );
            $this->ask('STARTTLS');
            $wire->startTls();
            $this->capabilities();
        }
        $this->logIn($login);
        $this->capabilities();
        $this->open();
    }

    private function capabilities(): void
    {
        foreach ($this->ask('CAPABILITY') as [$text]) {
            preg_match('/\ACAPABILITY (.+)/i', $text, $match) !== 1
                || $this->capabilities = explode(' ', strtoupper($match[1]));
        }
    }

    /** @throws Refused */
    private function logIn(Login $login): void
    {
        $offered = preg_grep('/\AAUTH=/', $this->capabilities) ?: [];
        $mechanism = $login->mechanism(array_values(preg_replace('/\AAUTH=/', '', $offered)));
        if ($mechanism === null) {
            !in_array('LOGINDISABLED', $this->capabilities, true) || throw new Stop(
                "{$this->at->shown} takes no password here: use imaps:// or ?tls=required.",
                ExitCode::UNAVAILABLE
            );
            $this->exchange('LOGIN ' . self::quoted($this->at->user) . ' '
                . self::quoted((string) $login->password));
            return;
        }
        $this->exchange(
            "AUTHENTICATE $mechanism",
            [$login->first($mechanism), Login::last($mechanism)]
        );
    }

    private function open(): void
    {
        $this->target === null || $this->need($this->target, fn (string $name): array
            => $this->exchange("STATUS $name (UIDNEXT)"));
        $said = $this->need($this->at->folder, fn (string $name): array
            => $this->exchange("SELECT $name"));
        foreach ($said as [$text]) {
            preg_match('/\AOK \[PERMANENTFLAGS \(([^)]*)\)/i', $text, $match) !== 1
                || $this->keepsKeywords = str_contains($match[1], '\*')
                || stripos($match[1], self::KEYWORD) !== false;
        }
    }

    /**
     * @param \Closure(string): list<array{string, list<string>}> $ask
     * @return list<array{string, list<string>}>
     */
    private function need(string $folder, \Closure $ask): array
    {
        try {
            return $ask(self::quoted(self::encoded($folder)));
        } catch (Refused $e) {
            throw Stop::config('The folder ' . Terminal::safe($folder) . " of {$this->at->shown} "
                . "cannot be used: {$e->getMessage()}. Create it, or name another.");
        }
    }

    public function messages(): array
    {
        $uids = [];
        $marked = $this->keepsKeywords ? ' UNKEYWORD ' . self::KEYWORD : '';
        foreach ($this->ask("UID SEARCH UNDELETED$marked") as [$text]) { // may come in parts
            if (preg_match('/\ASEARCH([\d ]*)/i', $text, $match) === 1) {
                $some = preg_split('/ /', $match[1], -1, PREG_SPLIT_NO_EMPTY) ?: [];
                array_push($uids, ...$some);
            }
        }
        rsort($uids, SORT_NUMERIC);
        return $uids;
    }

    public function read(string $name): ?string
    {
        $octets = self::OCTETS;
        try {
            $responses = $this->exchange("UID FETCH $name (UID BODY.PEEK[]<0.$octets>)");
        } catch (Refused $e) { // another client has just moved it, or it is damaged
            $this->withheld ??= $e->getMessage();
            return null;
        }
        $this->gives = true;
        foreach ($responses as [$text, $literals]) {
            if (preg_match('/\A\d+ FETCH .*\bUID ' . $name . '\b/i', $text) === 1
                && stripos($text, 'BODY[]<0> {}') !== false) {
                return $literals[0];
            }
        }
        return null;
    }

    public function mark(string $name): void
    {
        $this->marked[] = $name;
        count($this->marked) < self::AT_ONCE || $this->carryOut();
    }

    public function remove(string $name): void
    {
        $this->removed[] = $name;
        count($this->removed) < self::AT_ONCE || $this->carryOut();
    }

    private function carryOut(): void
    {
        [$marked, $removed] = [implode(',', $this->marked), implode(',', $this->removed)];
        $this->marked = $this->removed = [];
        if ($marked !== '' && $this->keepsKeywords) {
            $this->ask("UID STORE $marked +FLAGS.SILENT (" . self::KEYWORD . ')');
        }
        if ($removed === '') {
            return;
        }
        $target = $this->target === null ? null : self::quoted(self::encoded($this->target));
        if ($target !== null && in_array('MOVE', $this->capabilities, true)) {
            $this->carriesOut("UID MOVE $removed $target");
            return;
        }
        if ($target !== null && !$this->carriesOut("UID COPY $removed $target")) {
            return;
        }
        $this->ask("UID STORE $removed +FLAGS.SILENT (\\Deleted)");
        // Without UIDPLUS, EXPUNGE would also take what others have marked as deleted.
        in_array('UIDPLUS', $this->capabilities, true) && $this->ask("UID EXPUNGE $removed");
    }

    public function close(): void
    {
        $this->carryOut();
        $this->wire->say('Z LOGOUT'); // nothing depends on the answer
        $this->wire->close();
        $this->refused === null || throw new Stop("{$this->at->shown} refuses to move messages: "
            . "$this->refused. What they report is recorded.", ExitCode::UNAVAILABLE);
        $this->withheld === null || $this->gives || throw new Stop("{$this->at->shown} gives no "
            . "message: $this->withheld.", ExitCode::UNAVAILABLE);
    }

    /** If the server refuses it, such as for a full mailbox, reading goes on. close() says so. */
    private function carriesOut(string $command): bool
    {
        try {
            $this->exchange($command);
            return true;
        } catch (Refused $e) {
            $this->refused ??= $e->getMessage();
            return false;
        }
    }

    // ---- the protocol

    /**
     * exchange() of what no server refuses.
     *
     * @return list<array{string, list<string>}>
     * @throws Stop
     */
    private function ask(string $command): array
    {
        return $this->wire->ask($this->exchange(...), $command);
    }

    /**
     * Sends a command, and what the server asks for; returns the untagged responses.
     *
     * @param list<string> $more lines for continuation requests
     * @return list<array{string, list<string>}> without "* ", literals apart
     * @throws Refused
     */
    private function exchange(
        #[\SensitiveParameter] string $command,
        #[\SensitiveParameter] array $more = [],
    ): array {
        $tag = 'A' . ++$this->tag;
        $this->wire->say("$tag $command");
        $untagged = [];
        while (true) {
            [$text, $literals] = $this->response();
            if (str_starts_with($text, '* ')) {
                preg_match('/\A\* BYE/i', $text) !== 1
                    || throw $this->wire->trouble('ends the session: ' . substr($text, 6));
                $untagged[] = [substr($text, 2), $literals];
            } elseif (str_starts_with($text, '+')) {
                $this->wire->say(array_shift($more) ?? '*');
            } elseif (str_starts_with($text, "$tag ")) {
                preg_match('/\A\S+ OK/i', $text) === 1
                    || throw new Refused(substr($text, strlen($tag) + 1));
                return $untagged;
            } else {
                throw $this->wire->trouble('does not speak IMAP');
            }
        }
    }

    /**
     * One response, whose literals are apart.
     *
     * @return array{string, list<string>} "{}" stands for each literal
     */
    private function response(): array
    {
        $text = '';
        $literals = [];
        while (preg_match('/\A(.*)\{(\d{1,10})\}\z/s', $line = $this->wire->line(), $match) === 1) {
            if ((int) $match[2] > self::OCTETS || count($literals) > 100) {
                throw $this->wire->trouble('sends more than was asked for');
            }
            $text .= "$match[1]{}";
            $literals[] = $this->wire->octets((int) $match[2]);
        }
        return [$text . $line, $literals];
    }

    private static function quoted(#[\SensitiveParameter] string $text): string
    {
        return '"' . addcslashes($text, '"\\') . '"';
    }

    /** The name of a folder in modified UTF-7 (RFC 3501, 5.1.3). */
    private static function encoded(string $name): string
    {
        $utf16 = static fn (string $text): string
            => (string) hex2bin(str_replace(['"', '\u'], '', (string) json_encode($text)));
        return (string) preg_replace_callback('/[^ -~]+/u', static fn (array $match): string
            => '&' . rtrim(strtr(base64_encode($utf16($match[0])), '/', ','), '=')
                . '-', str_replace('&', '&-', $name));
    }
}
