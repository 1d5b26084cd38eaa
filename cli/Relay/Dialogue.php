<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

/** What was said with an SMTP relay: read from what Internal::probe() recorded, without secrets. */
final class Dialogue
{
    /** Shorter texts are in other words, too. */
    private const SECRET_MIN = 4;
    private const BODY_LINES = 3;

    /** @var list<array{who: 'C'|'S', line: string}> each line of the client and the server */
    public array $lines = [];
    /** @var list<string> libcurl's own words */
    public array $notes = [];
    /** @var array<string, string> fields of the relay's certificate; empty: not seen */
    public array $certificate = [];
    /** Why the relay cannot be used; null: it can. */
    public ?string $failure = null;

    /** @var list<string> */
    private array $secrets = [];
    private bool $inLogin = false;
    /** The message that goes out, as far as it has gone; null: none does. */
    private ?string $body = null;
    private string $said = '';

    /** @param string|\Closure|null $transport whose password must not be shown */
    public function __construct(string $trace, string|\Closure|null $transport)
    {
        foreach (is_string($transport) ? Group::relays($transport) : [] as $dsn) {
            if (preg_match('~//[^/?#]*?:([^/?#]*)@~', $dsn, $match)) {
                $this->hide(rawurldecode($match[1]));
            }
        }
        for ($at = 0; preg_match('/\G([CSTE*])(\d+):/', $trace, $match, 0, $at);) {
            $at += strlen($match[0]) + (int) $match[2];
            $this->add($match[1], substr($trace, $at - (int) $match[2], (int) $match[2]));
        }
        $this->addBody();
    }

    private function hide(string $secret): void
    {
        strlen($secret) < self::SECRET_MIN || $this->secrets[] = $secret;
    }

    public function without(string $text): string
    {
        return str_replace($this->secrets, '***', $text);
    }

    private function add(string $who, string $text): void
    {
        match ($who) {
            'C' => $this->weSaid($text),
            'S' => $this->relaySaid($text),
            'T' => $this->addField(...explode(':', "$text:", 2)),
            'E' => $this->failure = $this->without($text),
            default => $this->notes[] = $this->without(trim($text)),
        };
    }

    private function addField(string $name, string $value): void
    {
        $this->certificate[$name] ??= substr($value, 0, -1);
    }

    private function weSaid(string $text): void
    {
        if ($this->body !== null) {
            $this->body .= $text;
            str_ends_with($this->body, "\r\n.\r\n") && $this->addBody();
            return;
        }
        foreach (explode("\r\n", rtrim($text, "\r\n")) as $line) {
            if ($this->inLogin) {
                $this->hide($line);
                $line = '***';
            } elseif (preg_match('/\A(AUTH \S+)(?: (.+))?\z/i', $line, $match)) {
                $this->inLogin = true;
                $this->hide($match[2] ?? '');
                $line = $match[1] . (isset($match[2]) ? ' ***' : '');
            }
            $this->lines[] = ['who' => 'C', 'line' => $line];
        }
    }

    private function relaySaid(string $text): void
    {
        $this->said .= $text;
        while (($end = strpos($this->said, "\n")) !== false) {
            $line = rtrim(substr($this->said, 0, $end), "\r");
            $this->said = substr($this->said, $end + 1);
            $asks = str_starts_with($line, '334');
            $this->inLogin = $this->inLogin && $asks;
            $this->body ??= str_starts_with($line, '354') ? '' : null;
            $this->lines[] = ['who' => 'S',
                'line' => $asks && trim($line) !== '334' ? '334 ***' : $this->without($line)];
        }
    }

    /** The message's first lines, and how many more there are. */
    private function addBody(): void
    {
        $lines = explode("\r\n", preg_replace('/\r\n\z/', '', (string) $this->body) ?? '');
        $isWhole = end($lines) === '.';
        !$isWhole || array_pop($lines);
        $more = count($lines) - self::BODY_LINES;
        if ($this->body !== null && $this->body !== '') {
            foreach (array_slice($lines, 0, self::BODY_LINES) as $line) {
                $this->lines[] = ['who' => 'C', 'line' => $line];
            }
            $more <= 0 || $this->lines[] = ['who' => 'C', 'line' => "[$more more lines]"];
            !$isWhole || $this->lines[] = ['who' => 'C', 'line' => '.'];
        }
        $this->body = null;
    }

    /** The relay's reply to the last command that begins so, its lines joined; null: none came. */
    public function replyTo(string $command): ?string
    {
        $reply = null;
        $takes = $command === '';
        foreach ($this->lines as ['who' => $who, 'line' => $line]) {
            if ($who === 'C') {
                $takes = $command !== '' && stripos($line, $command) === 0;
                $reply = $takes ? null : $reply;
            } elseif ($takes) {
                $reply = ($reply === null ? '' : "$reply\n") . $line;
            }
        }
        return $reply;
    }

    /** The first of libcurl's words that match, with the expression's first group; null: none. */
    public function note(string $expression): ?string
    {
        foreach ($this->notes as $note) {
            if (preg_match($expression, $note, $match)) {
                return $match[1];
            }
        }
        return null;
    }

    /** Whether a login went through. */
    public function isLoggedIn(): bool
    {
        return (bool) preg_grep('/\A235/', array_column($this->lines, 'line'));
    }
}
