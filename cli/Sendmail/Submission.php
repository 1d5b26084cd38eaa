<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue;
use MailQueue\Cli\Arguments;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\DatabaseException;
use MailQueue\MessageException;

use const MailQueue\Cli\PROGRAM;

/** Reads one message from standard input and queues it. */
final class Submission
{
    public const SLACK = 1 << 20; // for bytes that are not stored, such as those of Bcc
    private const TRIES_MAX = 1000; // how often a read may fail although data was announced

    public function __construct(
        private readonly Settings $settings,
        private readonly Options $options,
    ) {
    }

    public function run(): void
    {
        self::refuseLoop();
        $this->settings->databasePath(); // throws without a database, before anything is read
        $recipients = $this->recipients();
        $sender = $this->sender();
        $name = $this->name();
        ini_set('memory_limit', '-1'); // mailqueue.max_message_size is the limit
        $draft = new Draft($this->read());
        try {
            if ($this->options->fromHeaders) {
                $recipients = [...$recipients, ...$draft->recipients()];
            }
        } catch (MessageException $e) {
            throw new Stop($e->getMessage(), ExitCode::NOUSER);
        }
        if (!$recipients) {
            throw Stop::usage('sendmail: the message names no recipient in To, Cc or Bcc; add one, '
                . 'or give recipients as arguments.');
        }
        self::store(
            $this->settings->queue(),
            $draft,
            $sender,
            $recipients,
            $name,
            $this->options->dsn
        );
    }

    /** Refuses mail that the worker hands to sendmail: it would come back to its own queue. */
    public static function refuseLoop(): void
    {
        if (Arguments::environment('MAILQUEUE_TRANSPORT_DEPTH') !== null) {
            throw Stop::config('sendmail: this mail comes from a queue\'s own transport '
                . '(sendmail://, or a Closure that calls mail()), and would go round in circles. '
                . 'Set MAILQUEUE_TRANSPORT to a relay (smtp://user:pass@host:587), or let the '
                . 'transport use another program: sendmail://default?command=…');
        }
    }

    /**
     * @param list<string> $recipients
     * @param array{notify?: list<string>, ret?: string, envid?: string} $dsn
     * @throws Stop|DatabaseException
     */
    public static function store(
        MailQueue $queue,
        Draft $draft,
        ?string $sender,
        array $recipients,
        string $name = '',
        array $dsn = []
    ): int {
        $self = Host::user() . '@' . Host::name();
        $from = $sender === null || $sender === '' ? $self : $sender;
        try {
            return (int) $queue->enqueue(
                $draft->complete($name === '' ? $from : self::phrase($name) . " <$from>"),
                envelopeFrom: $sender ?? $draft->sender() ?? $self,
                recipients: $recipients,
                dsn: $dsn,
            );
        } catch (\ValueError $e) {
            throw Stop::usage('sendmail: ' . str_replace('dsn[envid]', '-V', $e->getMessage())
                . '.');
        } catch (MessageException $e) {
            $code = match (true) {
                str_starts_with($e->field, 'recipients') => ExitCode::NOUSER,
                $e->field === 'envelopeFrom' => ExitCode::USAGE,
                default => ExitCode::DATAERR,
            };
            throw new Stop($draft->linesAsGiven($e->getMessage()), $code);
        }
    }

    /** @return list<string> */
    private function recipients(): array
    {
        $all = [];
        foreach ($this->options->recipients as $text) {
            try {
                $found = Addresses::of($text, Aliases::configured());
            } catch (Stop $e) {
                throw $e->getCode() === ExitCode::CONFIG ? $e
                    : new Stop('recipient: ' . $e->getMessage(), ExitCode::NOUSER);
            }
            $found || throw new Stop('recipient: "' . Terminal::safe($text)
                . '" has no address in it.', ExitCode::NOUSER);
            array_push($all, ...$found);
            if (count($all) > Addresses::most()) {
                break; // enqueue() refuses this many
            }
        }
        if (!$all && !$this->options->fromHeaders) {
            throw Stop::usage('sendmail: no recipients. Give them as arguments, or -t for those in '
                . 'the message.');
        }
        return $all;
    }

    private function sender(): ?string
    {
        $text = $this->options->sender;
        if ($text === null || in_array(trim($text), ['', '<>'], true)) {
            return $text === null ? null : '';
        }
        try {
            $found = Addresses::of($text);
        } catch (Stop $e) {
            throw Stop::usage('sendmail -f: ' . $e->getMessage());
        }
        if (count($found) !== 1) {
            $shown = Terminal::safe($text);
            throw Stop::usage("sendmail -f: \"$shown\" is not one address.");
        }
        return $found[0];
    }

    /** The display name for the From field that is added to a message without one. */
    private function name(): string
    {
        $given = $this->options->name;
        $name = $given ?? Arguments::environment('NAME') ?? Host::fullName();
        if (preg_match('/\A[^\p{Cc}\p{Zl}\p{Zp}]*\z/u', $name)) {
            return trim($name);
        }
        return $given === null ? ''
            : throw Stop::usage('sendmail -F: the name has a control character or is not UTF-8.');
    }

    /** Encodes a display name for a header (RFC 5322, 3.2.5; RFC 2047, section 5). */
    private static function phrase(string $name): string
    {
        if (!preg_match('/[^ -~]/', $name)) {
            return preg_match('/\A[\w!#$%&\'*+\/=?^`{|}~ -]*\z/', $name) ? $name
                : '"' . addcslashes($name, '"\\') . '"';
        }
        preg_match_all('/.{1,10}/us', $name, $match); // 40 octets at most: a word has room for 45
        $word = static fn (string $part): string => '=?UTF-8?B?' . base64_encode($part) . '?=';
        return implode("\n ", array_map($word, $match[0]));
    }

    /** Reads all of standard input; without -i, up to a line with a lone dot. */
    private function read(): string
    {
        self::refuseClosed();
        $max = self::maxSize();
        $chunks = [];
        $size = 0;
        $tail = "\n"; // the text begins on a new line, where a dot counts
        while (($chunk = self::chunk()) !== null) {
            if ($chunk === false) {
                $why = preg_replace('/.*errno=\d+ /', '', error_get_last()['message'] ?? '');
                throw new Stop("sendmail: standard input cannot be read: $why.", ExitCode::NOINPUT);
            }
            $chunks[] = $chunk;
            $end = $this->dot($tail . $chunk, '\n', $size - strlen($tail));
            if ($end !== null) {
                return substr(implode('', $chunks), 0, $end);
            }
            $size += strlen($chunk);
            $tail = substr($tail . $chunk, -3);
            if ($max > 0 && $size > $max + self::SLACK) {
                throw new Stop("message: it is larger than $max bytes; make it smaller or raise "
                    . 'mailqueue.max_message_size', ExitCode::DATAERR);
            }
        }
        $end = $this->dot($tail, '\z', $size - strlen($tail));
        return substr(implode('', $chunks), 0, $end);
    }

    /**
     * Reads standard input; null: its end; false: it cannot be read. Another process that shares
     * the pipe or socket may have made it non-blocking; then no data does not mean the end.
     */
    public static function chunk(?int $timeout = null): string|false|null
    {
        for ($tries = 0;; $tries++) {
            stream_set_blocking(STDIN, true);
            error_clear_last();
            $chunk = @fread(STDIN, 1 << 16);
            // Versions of PHP differ in what they return for no data yet; a fault leaves an error.
            $isNothing = $chunk === false ? error_get_last() === null && $tries < self::TRIES_MAX
                : $chunk === '' && !feof(STDIN);
            if (!$isNothing) {
                return $chunk === '' ? null : $chunk;
            }
            [$read, $none] = [[STDIN], null];
            if (@stream_select($read, $none, $none, $timeout) === 0) {
                return ''; // timeout: still nothing
            }
        }
    }

    /** Where the message ends: the position of the dot in it. $text begins at $place of it. */
    private function dot(string $text, string $lineEnd, int $place): ?int
    {
        return $this->options->dotEnds
            && preg_match("/\\n\\.\\r?$lineEnd/", $text, $match, PREG_OFFSET_CAPTURE)
            ? $place + $match[0][1] + 1 : null;
    }

    /** If descriptor 0 is closed, PHP opens the program's own file as descriptor 0. */
    private static function refuseClosed(): void
    {
        $input = @fstat(STDIN) ?: ['dev' => 0, 'ino' => 0];
        $self = stat(PROGRAM);
        if ($self && $input['ino'] === $self['ino'] && $input['dev'] === $self['dev']) {
            throw new Stop(
                'sendmail: standard input is closed; the message is read from it.',
                ExitCode::NOINPUT
            );
        }
    }

    /** mailqueue.max_message_size in bytes; 0: no limit. */
    public static function maxSize(): int
    {
        $text = (string) ini_get('mailqueue.max_message_size');
        $unit = strpos('KMG', strtoupper(substr($text, -1)) ?: '-');
        return (int) $text << ($unit === false ? 0 : 10 * ($unit + 1));
    }
}
