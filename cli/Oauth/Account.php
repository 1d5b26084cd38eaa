<?php

declare(strict_types=1);

namespace MailQueue\Cli\Oauth;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\Failure;
use MailQueue\Cli\FileAccess;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/** The file of an OAuth2 account (src/send/oauth/account.h), and the directory of all. */
final class Account
{
    private const NAME = '/\A[A-Za-z0-9_@][A-Za-z0-9_.@-]{0,63}\z/';

    public readonly string $path;
    private readonly string $directory;

    public function __construct(public readonly string $name)
    {
        if (!preg_match(self::NAME, $name)) {
            throw Stop::usage('An account\'s name has letters, digits, and - _ . @, at most 64, '
                . 'and begins with a letter, a digit, _ or @.');
        }
        $this->directory = Internal::accounts();
        $this->path = "$this->directory/$name.json";
    }

    /** @return list<self> */
    public static function all(): array
    {
        $files = preg_grep('/\.json\z/', @scandir(Internal::accounts()) ?: []) ?: [];
        $names = preg_replace('/\.json\z/', '', $files);
        return array_map(
            static fn (string $name): self => new self($name),
            array_values(preg_grep(self::NAME, $names) ?: [])
        );
    }

    public function exists(): bool
    {
        return @lstat($this->path) !== false;
    }

    /**
     * What the file says; empty if it cannot be read.
     *
     * @return array<string, string>
     */
    public function members(): array
    {
        $text = is_file($this->path) ? @file_get_contents($this->path, length: 262_144) : false;
        $members = $text === false ? null : json_decode($text, true);
        return array_map(strval(...), array_filter((array) $members, is_scalar(...)));
    }

    /** Why the worker would refuse the account, with the cure; null: it would not. */
    public function fault(): ?string
    {
        try {
            MailQueue::checkTransport('smtp://user@localhost?auth=oauth2&account='
                . rawurlencode($this->name));
            return null;
        } catch (\ValueError $e) {
            return preg_replace('/\A.*?cannot be used: /s', '', Failure::text($e));
        }
    }

    /** Has the worker's code ask for an access token if there is none; why none came, or null. */
    public function asked(): ?string
    {
        try {
            Internal::oauthToken($this->name);
            return null;
        } catch (\ValueError | MailQueue\Exception $e) {
            return Failure::text($e);
        }
    }

    /** A member that is a time; null: it is not there. */
    public function at(string $member): ?int
    {
        $at = (int) ($this->members()[$member] ?? 0);
        return $at > 0 ? $at : null;
    }

    /** Until when the access token is valid; null: there is none. */
    public function validUntil(): ?int
    {
        return $this->at('expires_at');
    }

    /** Says that the login ends soon or has ended, as the provider told; null: it does not. */
    public function ending(): ?string
    {
        $ends = $this->at('login_ends_at');
        if ($ends === null || time() < $this->at('login_look_at')) {
            return null;
        }
        $left = $ends - time();
        return "the login of account $this->name " . ($left > 0 ? 'ends in ' . Terminal::span($left)
            : 'ended ' . Terminal::span(-$left) . ' ago');
    }

    /** ending() with the cure. */
    public function notice(): ?string
    {
        $ending = $this->ending();
        return $ending === null ? null : "$ending: log in again: {$this->login()}";
    }

    /** The command that logs in again. */
    public function login(): string
    {
        $provider = $this->members()['provider'] ?? 'generic';
        return 'mailqueue login ' . Terminal::word($provider) . " --account $this->name";
    }

    /**
     * Puts a new file in the place of the old one, when no worker refreshes it.
     *
     * @param array<string, string> $members
     * @return array<string, string>|null what the old file had in it; null: there was none
     */
    public function write(array $members): ?array
    {
        $this->prepare();
        $lock = $this->lock();
        $before = $this->exists() ? $this->members() : null;
        $new = "$this->path.new";
        @unlink($new);
        $file = @fopen($new, 'x');
        $text = Terminal::json($members) . "\n";
        $isWritten = $file !== false && @fwrite($file, $text) === strlen($text)
            && fsync($file) && rename($new, $this->path);
        $why = error_get_last()['message'] ?? 'the disk may be full';
        $isWritten || @unlink($new); // before a worker that gets the lock has made its own
        fclose($lock);
        return $isWritten ? $before : throw Stop::config("$this->path cannot be written: $why.");
    }

    /**
     * Forgets the account on this machine, and what a killed process left of it.
     *
     * @return array<string, string> what the file said: a worker may have refreshed it just now
     */
    public function remove(): array
    {
        $lock = $this->lock();
        $members = $this->members();
        @unlink("$this->path.new");
        if (!@unlink($this->path)) {
            throw Stop::config("$this->path cannot be removed: "
                . (error_get_last()['message'] ?? '') . '.');
        }
        fclose($lock);
        return $members;
    }

    /** Makes the directory if it is missing. Files that this makes are for this user only. */
    private function prepare(): void
    {
        umask(0o077);
        if (!is_dir($this->directory)) {
            if (str_starts_with($this->directory, sys_get_temp_dir() . '/')
                && Arguments::environment('MAILQUEUE_ACCOUNTS') === null) {
                throw Stop::config("Accounts would be in $this->directory, where the system "
                    . 'removes files. Name a directory of the user who sends: --accounts DIR, '
                    . 'MAILQUEUE_ACCOUNTS, or mailqueue.accounts in php.ini.');
            }
            @mkdir($this->directory, 0o700, true);
        }
        $owner = @fileowner($this->directory);
        if ($owner === false) {
            throw Stop::config("$this->directory cannot be made: "
                . (error_get_last()['message'] ?? '') . '.');
        }
        $own = FileAccess::user();
        if ($own !== null && $owner !== $own) {
            throw Stop::config("$this->directory belongs to user $owner, and an account must "
                . 'belong to the user who sends: log in as that user.');
        }
    }

    /** @return resource held until it is closed */
    private function lock()
    {
        $lock = @fopen("$this->directory/$this->name.lock", 'c');
        if ($lock === false || !flock($lock, LOCK_EX)) {
            throw Stop::config("$this->directory/$this->name.lock cannot be locked: "
                . (error_get_last()['message'] ?? '') . '.');
        }
        return $lock;
    }
}
