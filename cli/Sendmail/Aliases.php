<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\MessageException;

/**
 * The aliases file, in the form of /etc/aliases. It says where mail goes that is addressed to a
 * user of this host, without a domain. "default" stands for every user without a line, as in msmtp.
 */
final class Aliases
{
    private const SIZE_MAX = 1 << 20;
    private const NAME = '/\A(?:"((?:[^"\\\\]|\\\\.)+)"|([^\s:",|\/\\\\]+))\s*:(.*)\z/s';
    /** Targets that are refused, by how they begin: they are not addresses. */
    private const REFUSED = ['|' => 'to a program', '/' => 'into a file',
        ':include:' => 'to a list in another file'];

    /** @var array<string, array{int, string}>|null name in small letters → line and targets */
    private ?array $entries = null;
    private int $left = 0; // how many more names and addresses of() may find

    public function __construct(public readonly string $path)
    {
    }

    /** The aliases file that is configured; null: none. */
    public static function configured(): ?self
    {
        static $all = [];
        $path = Arguments::environment('MAILQUEUE_ALIASES')
            ?? (string) ini_get('mailqueue.aliases');
        return $path === '' ? null : $all[$path] ??= new self($path);
    }

    /** Reads the file, when mail goes to a user of this host: other mail does not need it. */
    private function load(): void
    {
        $text = is_file($this->path) ? @file_get_contents($this->path, length: self::SIZE_MAX + 1)
            : false;
        if ($text === false) {
            throw Stop::config('The aliases file ' . Terminal::safe($this->path) . ' does not '
                . 'exist or cannot be read. MAILQUEUE_ALIASES (ini mailqueue.aliases) names it.');
        }
        if (strlen($text) > self::SIZE_MAX) { // the last address could be cut in half
            throw Stop::config('The aliases file ' . Terminal::safe($this->path)
                . ' is larger than 1 MiB: leave out what is not an alias of this host.');
        }
        $this->entries = [];
        foreach (self::lines($text) as $number => $line) {
            if (!preg_match(self::NAME, $line, $match)) {
                throw $this->fault($number, 'this is not NAME: ADDRESS');
            }
            $name = strtolower($match[1] !== '' ? stripslashes($match[1]) : $match[2]);
            $this->entries[$name] ??= [$number, $match[3]]; // as in Postfix, the first line counts
        }
    }

    /** @return array<int, string> keyed by line number; continuation lines are joined */
    private static function lines(string $text): array
    {
        $lines = [];
        foreach (preg_split('/\r?\n/', $text) ?: [] as $i => $line) {
            $line = rtrim((string) preg_replace('/(?:\A|\s)#.*/s', '', $line));
            if ($line !== '' && str_contains(" \t", $line[0]) && $lines) {
                $lines[array_key_last($lines)] .= $line;
            } elseif ($line !== '') {
                $lines[$i + 1] = $line;
            }
        }
        return $lines;
    }

    /** Checks every entry. */
    public function check(): void
    {
        $this->of('default');
        array_map($this->of(...), array_map(strval(...), array_keys($this->entries ?? [])));
    }

    /** @return list<string> addresses; a user without an alias gets this host's name */
    public function of(string $user): array
    {
        $this->entries === null && $this->load();
        $this->left = Addresses::most();
        $trail = [];
        return array_values(array_unique($this->expand($user, $trail)));
    }

    /**
     * @param array<array-key, true> $trail the names that lead here
     * @return list<string>
     */
    private function expand(string $user, array &$trail): array
    {
        $name = strtolower($user);
        $name = isset($this->entries[$name]) || isset($trail['default']) ? $name : 'default';
        if (!isset($this->entries[$name])) {
            return ["$user@" . Host::name()];
        }
        [$line, $targets] = $this->entries[$name];
        if (isset($trail[$name])) {
            $names = implode(' → ', [...array_keys($trail), $name]);
            throw $this->fault($line, "this goes round in circles: $names; a backslash ends it "
                . "(\\$name is $name of this host)");
        }
        $trail[$name] = true;
        $all = [];
        preg_match_all('/(?:"(?:[^"\\\\]|\\\\.)*"|[^",])+/', $targets, $match);
        foreach (array_diff(array_map(trim(...), $match[0]), ['']) as $target) {
            if (--$this->left < 0) {
                throw $this->fault($line, 'the aliases that lead here have more than '
                    . Addresses::most() . ' names and addresses, which are too many '
                    . 'recipients for a mail; give the address of a mailing list');
            }
            array_push($all, ...$this->target($target, $line, $trail));
        }
        unset($trail[$name]);
        return $all ?: throw $this->fault($line, "\"$name\" has no address");
    }

    /**
     * @param array<array-key, true> $trail
     * @return list<string>
     */
    private function target(string $target, int $line, array &$trail): array
    {
        foreach (self::REFUSED as $begin => $where) {
            if (str_starts_with(strtolower(ltrim($target, '"')), $begin)) {
                throw $this->fault($line, "mail that goes $where is not supported ($target): give "
                    . 'an address, or let a program with its own aliases deliver it');
            }
        }
        if (!str_contains($target, '@')) {
            $isFinal = $target[0] === '\\';
            $user = $isFinal ? substr($target, 1) : $target;
            if (!preg_match('/\A' . Addresses::ATOM . '\z/', $user)) {
                throw $this->fault($line, "\"$target\" is neither an address nor a user");
            }
            return $isFinal ? ["$user@" . Host::name()] : $this->expand($user, $trail);
        }
        try {
            $found = MailQueue::envelope("To: $target\r\n\r\n")['recipients'];
        } catch (MessageException $e) {
            throw $this->fault($line, (string) preg_replace('/\ATo: /', '', $e->getMessage()));
        }
        return $found;
    }

    private function fault(int $line, string $why): Stop
    {
        return Stop::config(Terminal::safe("The aliases file $this->path, line $line: $why."));
    }
}
