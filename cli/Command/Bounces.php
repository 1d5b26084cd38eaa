<?php

declare(strict_types=1);

namespace MailQueue\Cli\Command;

use MailQueue\Cli\Arguments;
use MailQueue\Cli\Bounce\Outcome;
use MailQueue\Cli\Bounce\Reader;
use MailQueue\Cli\Bounce\Recorder;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Mailbox\Address;
use MailQueue\Cli\Mailbox\Imap;
use MailQueue\Cli\Mailbox\Login;
use MailQueue\Cli\Mailbox\Mailbox;
use MailQueue\Cli\Mailbox\Pop3;
use MailQueue\Cli\Mailbox\Refused;
use MailQueue\Cli\Mailbox\Wire;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\MessageException;

/** bounces: reads reports and complaints from a mailbox. */
final class Bounces extends Command
{
    /** The entry in Commands::ALL. */
    public const ABOUT = [
        'args' => '[MAILBOX]',
        'words' => 1,
        'text' => 'Read bounces and complaints from a mailbox, by IMAP or POP3, and record them. '
            . 'MAILBOX is imaps://user@host/FOLDER, imap://, pop3s:// or pop3:// (default: '
            . '$MAILQUEUE_MAILBOX, which may have the password in it). Other mail stays as it is. '
            . 'Exit 1 if a message could not be recorded.',
        'examples' => [
            'mailqueue bounces imaps://me%40example.org@imap.example.org --move Done',
            'mailqueue bounces pop3s://bounces@pop.example.org --delete',
            'mailqueue bounces imaps://me%40example.org@imap.gmail.com --account main',
        ],
        'options' => [
            'keep' => 'leave what was recorded (the default); IMAP marks it with a keyword',
            'delete' => 'delete what was recorded',
            'move=FOLDER' => 'move what was recorded there (IMAP)',
            'limit=N' => 'look at no more than the N newest messages (default 1000)',
            'account=NAME' => 'log in with an access token of this OAuth2 account',
            'accounts=DIR' => 'OAuth2 accounts, as for work',
        ],
    ];

    /** @var array<string, int> kind → events of this kind */
    private array $kinds = [];
    private int $looked = 0;
    private int $recorded = 0;
    private int $known = 0;
    private int $suppressed = 0;
    private int $failed = 0;

    public function run(): int
    {
        $given = $this->args->words[0] ?? null;
        $at = Address::of($given ?? Arguments::environment('MAILQUEUE_MAILBOX')
            ?? throw Stop::usage('bounces needs a mailbox, such as imaps://user@host, or '
                . 'MAILQUEUE_MAILBOX.'));
        if ($given !== null && $at->password !== null) {
            throw Stop::usage('No password in an argument: every user of this machine can read it '
                . 'there (ps). Set MAILQUEUE_MAILBOX_PASSWORD_FILE to a file of mode 0600, or '
                . 'MAILQUEUE_MAILBOX to the whole URL.');
        }
        $target = $this->target($at);
        $queue = $this->settings->queue();
        $mailbox = $this->open($at, $target);
        [$reader, $recorder] = [new Reader($queue), new Recorder($queue)];
        $limit = $this->args->int('limit', 1000, 1, 1_000_000);
        try {
            foreach (array_slice($mailbox->messages(), 0, $limit) as $name) {
                $this->take($mailbox, $name, $reader, $recorder);
            }
        } catch (\Throwable $e) {
            self::end($mailbox);
            throw $e;
        }
        try {
            $mailbox->close();
        } finally {
            $this->tell(); // it is recorded, even if the messages could not be moved
        }
        return $this->failed > 0 ? ExitCode::FINDINGS : ExitCode::OK;
    }

    /** After an error: deletes what was recorded, if the connection is still there. */
    private static function end(Mailbox $mailbox): void
    {
        try {
            $mailbox->close();
        } catch (Stop) { // it is read again, and counts once
        }
    }

    private function target(Address $at): ?string
    {
        $given = array_filter(['keep', 'delete', 'move'], $this->args->has(...));
        count($given) < 2 || throw Stop::usage('Give one of --keep, --delete and --move.');
        $target = $this->args->text('move');
        if ($target !== null && preg_match('/\A[^\x00-\x1f\x7f]+\z/u', $target) !== 1) {
            throw Stop::usage('--move needs the name of a folder, in UTF-8.');
        }
        if ($target !== null && !$at->isImap) {
            throw Stop::usage('POP3 cannot move mail: give --delete or --keep.');
        }
        return $target;
    }

    private function open(Address $at, ?string $target): Mailbox
    {
        $name = $this->args->text('account');
        $account = $name === null ? null : new Account($name);
        $password = $account === null ? $at->password ?? $this->password() : null;
        $login = new Login($at, $password, $account);
        $open = static fn (): Mailbox => $at->isImap
            ? new Imap($at, $login, $target, new Wire($at)) : new Pop3($at, $login, new Wire($at));
        try {
            try {
                return $open();
            } catch (Refused $e) {
                return $login->renew() ? $open() : throw $e;
            }
        } catch (Refused $e) {
            throw new Stop("$at->shown refuses the login: {$e->getMessage()}. Check the user and "
                . ($account === null ? 'the password.'
                    : "whether account $account->name may read this mailbox."), ExitCode::NOPERM);
        }
    }

    private function password(): string
    {
        $file = Arguments::environment('MAILQUEUE_MAILBOX_PASSWORD_FILE') ?? throw Stop::config(
            'There is no password. Set MAILQUEUE_MAILBOX_PASSWORD_FILE to a file of mode 0600 that '
            . 'has only the password in it, or MAILQUEUE_MAILBOX to the whole URL; or give '
            . '--account.'
        );
        $text = @file_get_contents($file, length: 4096);
        if ($text === false || ((int) @fileperms($file) & 0o077) !== 0) {
            throw Stop::config("MAILQUEUE_MAILBOX_PASSWORD_FILE: $file " . ($text === false
                ? 'cannot be read.' : 'can be read by other users: chmod 600.'));
        }
        $password = rtrim($text, "\r\n");
        return preg_match('/\A[^\r\n\0]+\z/', $password) === 1 ? $password : throw Stop::config(
            "MAILQUEUE_MAILBOX_PASSWORD_FILE: $file must have one line, the password."
        );
    }

    /** Reads one message; what it reports is recorded before the message is touched. */
    private function take(Mailbox $mailbox, string $name, Reader $reader, Recorder $recorder): void
    {
        $message = $mailbox->read($name);
        if ($message === null) {
            return;
        }
        $this->looked++;
        $events = $reader->read($message)->events;
        foreach ($events as $event) {
            try {
                $outcome = $recorder->record($event);
            } catch (MessageException | \ValueError $e) { // the others must not wait for it
                $this->failed++;
                Terminal::error('A message stays: ' . rtrim(Terminal::safe($e->getMessage()), '.'));
                return;
            }
            $this->known += $outcome === Outcome::Known ? 1 : 0;
            $this->suppressed += $outcome === Outcome::Suppressed ? 1 : 0;
            $this->kinds[$event->kind->value] = ($this->kinds[$event->kind->value] ?? 0) + 1;
        }
        $this->recorded += $events === [] ? 0 : 1;
        $isRemoved = $events !== [] && ($this->args->has('delete') || $this->args->has('move'));
        $isRemoved ? $mailbox->remove($name) : $mailbox->mark($name);
    }

    private function tell(): void
    {
        $this->result([
            'messages' => $this->looked,
            'bounces' => $this->recorded,
            'events' => (object) $this->kinds,
            'known' => $this->known,
            'suppressed' => $this->suppressed,
            'failed' => $this->failed,
        ], function (): void {
            $what = $this->args->has('delete') ? ', deleted' : ($this->args->has('move')
                ? ', moved' : '');
            $kinds = [];
            foreach ($this->kinds as $kind => $count) {
                $kinds[] = "$count " . strtr($kind, '_', ' ');
            }
            echo "$this->looked looked at, $this->recorded recorded$what",
            $kinds === [] ? '' : ': ' . implode(', ', $kinds),
            $this->known > 0 ? " ($this->known known)" : '',
            "; $this->suppressed suppressed.\n";
        });
    }
}
