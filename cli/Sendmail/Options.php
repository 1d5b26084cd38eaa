<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** The options of sendmail, read as Postfix's sendmail(1) reads them. */
final class Options
{
    private const FLAGS = 'GIUcimntvx';
    private const WITH_VALUE = 'ABCFLNORVXbefhopr';
    /** The modes by the letter of -b; "-": do nothing. */
    private const MODES = ['m' => 'm', 'p' => 'p', 's' => 's', 'h' => '-', 'H' => '-', 'i' => '-'];
    private const VALID = [
        'N' => ['/\A(?:never|(?:success|failure|delay)(?:,(?:success|failure|delay))*)\z/i',
            'never, or success, failure and delay with commas between'],
        'R' => ['/\A(?:hdrs|full)\z/i', 'hdrs or full'],
        'V' => ['/\A[!-~]{1,100}\z/', '1 to 100 printable characters'],
    ];

    /** m: take a message, s: SMTP, p: list, q: run the queue, "-": nothing */
    public string $mode = 'm';
    public bool $fromHeaders = false;
    public bool $dotEnds = true;
    public ?string $sender = null;
    public ?string $name = null;
    /** @var array{notify?: list<string>, ret?: string, envid?: string} as enqueue() takes it */
    public array $dsn = [];
    /** @var list<string> as they were written */
    public array $recipients = [];

    /** @param list<string> $words */
    public function __construct(array $words)
    {
        while (preg_match('/\A-./s', $words[0] ?? '')) {
            $word = array_shift($words);
            if ($word === '--') {
                break;
            }
            $this->group($word, $words);
        }
        $this->recipients = $words;
        if ($this->fromHeaders && $this->mode !== 'm') {
            throw Stop::usage('sendmail: -t goes with a message only, not with -b or -q.');
        }
    }

    /**
     * Reads "-ti" or "-fa@b". A value is the rest of the word or, if that is empty, the next word.
     *
     * @param list<string> $rest
     */
    private function group(string $word, array &$rest): void
    {
        for ($i = 1; $i < strlen($word); $i++) {
            $letter = $word[$i];
            $value = substr($word, $i + 1);
            if ($letter === 'q') {
                $this->run($value);
                return;
            }
            if (str_contains(self::WITH_VALUE, $letter)) {
                $value = $value !== '' ? $value : array_shift($rest);
                $this->value($letter, $value
                    ?? throw Stop::usage("sendmail: -$letter needs a value."));
                return;
            }
            if (!str_contains(self::FLAGS, $letter)) {
                throw Stop::usage('sendmail: unknown option ' . Terminal::safe($word)
                    . '. mailqueue sendmail --help lists the options.');
            }
            $this->flag($letter);
        }
    }

    private function flag(string $letter): void
    {
        match ($letter) {
            't' => $this->fromHeaders = true,
            'i' => $this->dotEnds = false,
            'I' => $this->mode = '-',
            default => null,
        };
    }

    private function value(string $letter, string $value): void
    {
        [$pattern, $allowed] = self::VALID[$letter] ?? ['//', ''];
        if (!preg_match($pattern, $value)) {
            $shown = Terminal::safe($value);
            throw Stop::usage("sendmail: -$letter takes $allowed, not \"$shown\".");
        }
        match ($letter) {
            'b' => $this->mode = self::MODES[$value] ?? throw Stop::usage('sendmail: of -b there '
                . 'are -bm, -bs and -bp only. (mailqueue work --daemon is a daemon.)'),
            'f', 'r' => $this->sender = $value,
            'F' => $this->name = $value,
            'N' => $this->dsn['notify'] = explode(',', $value),
            'R' => $this->dsn['ret'] = $value,
            'V' => $this->dsn['envid'] = $value,
            'X' => str_starts_with($value, 'V') ? throw Stop::usage('sendmail: -XV (a sender of '
                . 'its own for each recipient, VERP) is not supported; call sendmail once for '
                . 'each recipient, with its -f.') : null, // -X FILE, a log, is ignored
            'o' => $this->dotEnds = $this->dotEnds && !str_starts_with($value, 'i'),
            default => null,
        };
    }

    private function run(string $value): void
    {
        if (!preg_match('/\A(?:\d|\z)/', $value)) {
            throw Stop::usage('sendmail: -q takes no value: it runs the queue. (mailqueue retry ID '
                . 'brings back one mail.)');
        }
        $this->mode = $value === '' ? 'q' : '-';
    }
}
