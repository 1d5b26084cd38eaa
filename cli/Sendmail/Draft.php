<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Stop;
use MailQueue\MessageException;

/** A message as a program hands it over, before it is complete. */
final class Draft
{
    private const RECIPIENTS = ['to', 'cc', 'bcc', 'resent-to', 'resent-cc', 'resent-bcc'];
    private const SENDERS = ['from', 'sender', 'resent-from', 'resent-sender'];
    /** Fields that separate blocks of Resent- fields. */
    private const MARKS = ['received', 'return-path', 'resent-date', 'resent-message-id'];
    private const KEPT = [...self::RECIPIENTS, ...self::SENDERS, ...self::MARKS];
    private const FIELDS_MAX = 10_000;
    /** A limit for the header, which is read several times; the body is only passed on. */
    private const HEADER_MAX = 1 << 21;

    /** @var list<array{name: string, from: int, to: int}> those of KEPT; offsets into $header */
    private array $fields = [];
    private readonly string $header;
    private readonly string $body;
    private readonly string $eol;
    /** How many lines the header has more than the header that was given. */
    private int $shift = 0;

    public function __construct(string $raw)
    {
        $end = !str_contains($raw, "\n") && str_contains($raw, "\r") ? "\r" : "\n";
        // The line that separates the messages of a mailbox file does not belong to the message.
        preg_match('/\A(?:>*From [^\r\n]*(?:\r\n?|\n))+/', $raw, $match);
        $start = strlen($match[0] ?? '');
        $this->shift -= substr_count($match[0] ?? '', $end);
        $behind = $this->read($raw, $start, $end);
        $this->header = substr($raw, $start, $behind - $start);
        $first = strcspn($this->header, "\r\n");
        $this->eol = substr($this->header, $first, 2) === "\r\n" ? "\r\n" : $end;
        $hasEnd = preg_match('/\A(?:\r?\n|\r)/', substr($raw, $behind, 2));
        $this->body = ($hasEnd ? '' : $this->eol) . substr($raw, $behind);
    }

    /** Reads the header; returns where it ends: at an empty line or one that is not a field. */
    private function read(string $raw, int $start, string $end): int
    {
        $keeps = false;
        for ($at = $start; $at < strlen($raw); $at = $next) {
            $next = strpos($raw, $end, $at);
            $next = $next === false ? strlen($raw) : $next + 1;
            $line = substr($raw, $at, $next - $at);
            if (preg_match('/\A([!-9;-~]+)[ \t]*:/', $line, $match)) {
                $name = strtolower($match[1]);
                $keeps = in_array($name, self::KEPT, true);
                $keeps && $this->fields[] = ['name' => $name, 'from' => $at - $start,
                    'to' => $next - $start];
            } elseif ($at === $start || !str_contains(" \t", $line[0])) {
                return $at;
            }
            if ($keeps && $this->fields) {
                $this->fields[array_key_last($this->fields)]['to'] = $next - $start;
            }
            if ($next - $start > self::HEADER_MAX) {
                throw new Stop('message: its header has more than ' . self::HEADER_MAX
                    . ' bytes; an empty line ends it', ExitCode::DATAERR);
            }
            if (count($this->fields) > self::FIELDS_MAX) {
                throw new Stop('message: it has more than ' . self::FIELDS_MAX
                    . ' fields of addresses', ExitCode::DATAERR);
            }
        }
        return $at;
    }

    private function has(string $name): bool
    {
        return in_array($name, array_column($this->fields, 'name'), true);
    }

    /**
     * @return list<string>
     * @throws MessageException
     */
    public function recipients(): array
    {
        $header = $this->only(self::RECIPIENTS, self::SENDERS, Aliases::configured());
        return MailQueue::envelope($header)['recipients'];
    }

    /** The sender that the message names; null if there is none or it is not an address. */
    public function sender(): ?string
    {
        try {
            return MailQueue::envelope($this->only(self::SENDERS, self::RECIPIENTS))['from'];
        } catch (MessageException) {
            return null;
        }
    }

    /**
     * Makes a header of the fields in $names. Those in $others and MARKS get a placeholder as their
     * value, because only their positions matter, and an error in their value must not.
     *
     * @param list<string> $names
     * @param list<string> $others
     */
    private function only(array $names, array $others, ?Aliases $aliases = null): string
    {
        $header = '';
        $count = 0;
        foreach ($this->fields as ['name' => $name, 'from' => $from, 'to' => $to]) {
            if (in_array($name, $names, true)) {
                $text = substr($this->header, $from, $to - $from);
                [, $value] = explode(':', rtrim($text, "\r\n"), 2);
                $header .= "$name:" . Addresses::qualified($value, $aliases, $count)
                    . $this->eol;
            } elseif (in_array($name, [...$others, ...self::MARKS], true)) {
                $header .= "$name: x@localhost$this->eol";
            }
        }
        return $header . $this->eol;
    }

    /** The whole message, with an empty line after the header, and with a From. */
    public function complete(string $from): string
    {
        // Spaces before the colon are old syntax (RFC 5322, 4.5), and such a Bcc counts too.
        $isOld = '/(*ANYCRLF)^([!-9;-~]+)[ \t]+:/m';
        $header = preg_replace($isOld, '$1:', $this->header) ?? $this->header;
        $isEnded = $header === '' || str_contains("\r\n", substr($header, -1));
        $added = $this->has('from') ? ''
            : 'From: ' . str_replace("\n", $this->eol, $from) . $this->eol;
        $this->shift += substr_count($added, substr($this->eol, -1));
        return $added . $header . ($isEnded ? '' : $this->eol) . $this->body;
    }

    /** Changes the line numbers in an error to those of the message as it was given. */
    public function linesAsGiven(string $text): string
    {
        return (string) preg_replace_callback(
            '/(?<=\bline )\d+(?=:)/',
            fn (array $match): string => (string) max(1, (int) $match[0] - $this->shift),
            $text
        );
    }
}
