<?php

declare(strict_types=1);

namespace MailQueue\Cli\Sendmail;

use MailQueue;
use MailQueue\Cli\ExitCode;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\DatabaseException;

/** SMTP on standard input and output, for programs that start sendmail -bs (RFC 5321). */
final class SmtpServer
{
    private const LINE_MAX = 4096;
    private const ERRORS_MAX = 20;
    private const COMMANDS = ['EHLO', 'HELO', 'MAIL', 'RCPT', 'DATA', 'RSET', 'NOOP', 'VRFY',
        'HELP', 'QUIT'];

    private string $input = '';
    private string $output = '';
    private bool $lineTooLong = false;
    private bool $greeted = false;
    private bool $over = false;
    private int $errors = 0;
    /** Null: no mail transaction is open. */
    private ?string $sender = null;
    private bool $utf8 = false;
    /** @var list<string> */
    private array $recipients = [];
    private ?MailQueue $queue = null;
    private readonly int $maxSize;

    public function __construct(
        private readonly Settings $settings,
        private readonly int $timeout,
    ) {
        $this->maxSize = Submission::maxSize();
    }

    public function run(): int
    {
        try {
            Submission::refuseLoop();
            $this->queue = $this->settings->queue();
        } catch (\Throwable $e) {
            $this->reply(421, '4.3.0', Host::name() . ' cannot take mail now');
            $this->flush();
            throw $e;
        }
        ini_set('memory_limit', '-1');
        $this->output = '220 ' . Host::name() . " ESMTP mailqueue\r\n";
        while (!$this->over && ($line = $this->line()) !== null) {
            $this->command($line);
        }
        $this->flush();
        return ExitCode::OK;
    }

    private function command(string $line): void
    {
        [$verb, $rest] = explode(' ', trim($line, " \t"), 2) + [1 => ''];
        $verb = strtoupper($verb);
        if ($this->lineTooLong) {
            $this->wrong(500, '5.5.2', 'the line is too long');
        } elseif (!in_array($verb, self::COMMANDS, true)) {
            $this->wrong(500, '5.5.2', 'there is no such command');
        } else {
            $run = [$this, strtolower($verb)];
            $run(trim($rest, " \t"));
        }
        if ($this->errors >= self::ERRORS_MAX) {
            $this->reply(421, '4.7.0', 'too many errors');
            $this->over = true;
        }
    }

    private function reply(int $code, string $enhanced, string $text): void
    {
        $text = (string) preg_replace('/[^ -~]+/', '?', $text);
        $this->output .= rtrim("$code $enhanced " . substr($text, 0, 400)) . "\r\n";
    }

    private function wrong(int $code, string $enhanced, string $text): void
    {
        $this->errors++;
        $this->reply($code, $enhanced, $text);
    }

    private function ehlo(string $name): void
    {
        if ($this->hello($name)) {
            $lines = [Host::name(), 'PIPELINING', "SIZE $this->maxSize", '8BITMIME',
                'ENHANCEDSTATUSCODES', 'SMTPUTF8'];
            $last = array_pop($lines);
            $this->output .= '250-' . implode("\r\n250-", $lines) . "\r\n250 $last\r\n";
        }
    }

    private function helo(string $name): void
    {
        if ($this->hello($name)) {
            $this->output .= '250 ' . Host::name() . "\r\n";
        }
    }

    private function hello(string $name): bool
    {
        if ($name === '') {
            $this->wrong(501, '5.5.4', 'a name is missing: EHLO host.example.org');
            return false;
        }
        $this->greeted = true;
        $this->reset();
        return true;
    }

    private function reset(): void
    {
        [$this->sender, $this->utf8, $this->recipients] = [null, false, []];
    }

    private function mail(string $words): void
    {
        $isPath = '/\AFROM:\s*<([^<>\s]*)>((?:\s+[^\s=]+(?:=\S*)?)*)\z/i';
        if (!$this->greeted || $this->sender !== null) {
            $this->wrong(503, '5.5.1', $this->greeted
                ? 'a sender was given already; RSET forgets it' : 'say EHLO or HELO first');
        } elseif (!preg_match($isPath, $words, $match)) {
            $this->wrong(501, '5.5.4', 'write MAIL FROM:<address>');
        } elseif ($this->parameters($match[2])) {
            $sender = $match[1] === '' ? '' : $this->sender($match[1]);
            if ($sender !== null) {
                $this->sender = $sender;
                $this->reply(250, '2.1.0', 'sender taken');
            }
        }
    }

    private function parameters(string $words): bool
    {
        $this->utf8 = false;
        foreach (preg_split('/\s+/', $words, -1, PREG_SPLIT_NO_EMPTY) ?: [] as $word) {
            [$name, $value] = explode('=', strtoupper($word), 2) + [1 => null];
            $isUtf8 = $name === 'SMTPUTF8' && $value === null;
            $this->utf8 = $this->utf8 || $isUtf8;
            $isSize = $name === 'SIZE' && preg_match('/\A\d{1,20}\z/', (string) $value);
            $isBody = $name === 'BODY' && in_array($value, ['7BIT', '8BITMIME'], true);
            if ($isSize && $this->maxSize > 0 && (float) $value > $this->maxSize) {
                $this->reply(552, '5.3.4', "at most $this->maxSize bytes are taken");
                return false;
            }
            if (!$isUtf8 && !$isSize && !$isBody) {
                $this->wrong(555, '5.5.4', "the parameter $word is not supported");
                return false;
            }
        }
        return true;
    }

    private function rcpt(string $words): void
    {
        if ($this->sender === null) {
            $this->wrong(503, '5.5.1', 'MAIL comes first');
        } elseif (!preg_match('/\ATO:\s*<([^<>\s]+)>\s*(.*)\z/is', $words, $match)) {
            $this->wrong(501, '5.5.4', 'write RCPT TO:<address>');
        } elseif ($match[2] !== '') {
            $this->wrong(555, '5.5.4', "the parameter $match[2] is not supported");
        } elseif (count($this->recipients) >= Addresses::most()) {
            $this->reply(452, '4.5.3', 'at most ' . Addresses::most()
                . ' recipients are taken');
        } elseif ($found = $this->addresses($match[1], 553, '5.1.3', Aliases::configured(...))) {
            array_push($this->recipients, ...$found);
            $this->reply(250, '2.1.5', 'recipient taken');
        }
    }

    /** The sender's address; null: it was refused. */
    private function sender(string $text): ?string
    {
        return $this->addresses($text, 501, '5.1.7', static fn () => null)[0] ?? null;
    }

    /**
     * Returns the address, or the addresses of its alias; none: it was refused, as replied.
     *
     * @return list<string>
     */
    private function addresses(string $text, int $code, string $enhanced, callable $aliases): array
    {
        if (!$this->utf8 && preg_match('/[\x80-\xFF]/', $text)) {
            $this->wrong(553, '5.6.7', 'the address needs SMTPUTF8 at MAIL');
            return [];
        }
        try {
            $found = Addresses::of("<$text>", $aliases());
            if (count($found) === 1 || strpbrk($text, '@,') === false) {
                return $found;
            }
            $this->wrong($code, $enhanced, 'this is not one address');
        } catch (Stop $e) {
            $isOurs = $e->getCode() === ExitCode::CONFIG;
            $this->wrong($isOurs ? 451 : $code, $isOurs ? '4.3.5' : $enhanced, $e->getMessage());
        }
        return [];
    }

    private function data(string $words): void
    {
        if ($words !== '') {
            $this->wrong(501, '5.5.4', 'DATA takes nothing');
            return;
        }
        if ($this->sender === null || !$this->recipients) {
            $this->sender === null ? $this->wrong(503, '5.5.1', 'MAIL and RCPT come first')
                : $this->wrong(554, '5.5.1', 'there is no recipient');
            return;
        }
        $this->output .= "354 go on; a line with a lone dot ends it\r\n";
        $message = $this->message();
        if ($message === null) {
            $this->reply(552, '5.3.4', "at most $this->maxSize bytes are taken");
        } else {
            $this->store($message);
        }
        $this->reset();
    }

    /**
     * Reads the message up to CRLF, dot, CRLF. Nothing else ends it: if bare LFs around a dot did,
     * the text after them could pass for commands. Null: too large.
     */
    private function message(): ?string
    {
        $data = "\r\n$this->input";
        $this->input = '';
        $fits = true;
        $from = 0;
        while (($end = strpos($data, "\r\n.\r\n", $from)) === false) {
            if ($this->maxSize > 0 && strlen($data) > $this->maxSize + Submission::SLACK) {
                $fits = false;
                $data = substr($data, -4);
            }
            $from = max(0, strlen($data) - 4);
            $data .= $this->read() ?? throw new Stop('sendmail -bs: the client left in the middle '
                . 'of a message; nothing of it was queued.', ExitCode::DATAERR);
        }
        $this->input = substr($data, $end + 5);
        return $fits ? substr(str_replace("\r\n.", "\r\n", substr($data, 0, $end + 2)), 2) : null;
    }

    private function store(string $message): void
    {
        try {
            $this->queue ??= $this->settings->queue();
            $id = Submission::store(
                $this->queue,
                new Draft($message),
                $this->sender,
                $this->recipients
            );
            $this->reply(250, '2.0.0', "queued as $id");
        } catch (Stop $e) {
            $this->reply(554, '5.6.0', $e->getMessage());
        } catch (MailQueue\Exception $e) {
            $this->queue = null; // open it again next time: it may be another file
            $isFull = $e instanceof DatabaseException && $e->reason === 'full';
            $this->reply($isFull ? 452 : 451, $isFull ? '4.3.1' : '4.3.0', 'try again later');
            Terminal::error('mailqueue: ' . Terminal::safe($e->getMessage()));
        }
    }

    private function rset(): void
    {
        $this->reset();
        $this->reply(250, '2.0.0', 'forgotten');
    }

    private function noop(): void
    {
        $this->reply(250, '2.0.0', 'ok');
    }

    private function vrfy(): void
    {
        $this->reply(252, '2.0.0', 'send mail and see');
    }

    private function help(): void
    {
        $this->reply(214, '2.0.0', implode(' ', self::COMMANDS));
    }

    private function quit(): void
    {
        $this->reply(221, '2.0.0', Host::name() . ' goodbye');
        $this->over = true;
    }

    /** A command without its line end; null at the end of the input. */
    private function line(): ?string
    {
        $this->lineTooLong = false;
        while (($end = strpos($this->input, "\n")) === false) {
            if (strlen($this->input) > self::LINE_MAX) {
                $this->lineTooLong = true;
                $this->input = '';
            }
            $chunk = $this->read();
            if ($chunk === null) {
                return null;
            }
            $this->input .= $chunk;
        }
        $line = substr($this->input, 0, $end);
        $this->input = substr($this->input, $end + 1);
        $this->lineTooLong = $this->lineTooLong || $end > self::LINE_MAX;
        return rtrim($line, "\r");
    }

    /** Writes the pending replies, then reads; null at the end of the input. */
    private function read(): ?string
    {
        $this->flush();
        [$read, $none] = [[STDIN], null];
        $ready = @stream_select($read, $none, $none, $this->timeout);
        $chunk = $ready === 0 ? '' : Submission::chunk($this->timeout);
        if ($chunk === '') {
            $this->reply(421, '4.4.2', "nothing came for $this->timeout s");
            $this->flush();
            throw new Stop(
                "sendmail -bs: the client said nothing for $this->timeout s.",
                ExitCode::TEMPFAIL
            );
        }
        return $chunk === false ? null : $chunk;
    }

    private function flush(): void
    {
        stream_set_blocking(STDOUT, true); // non-blocking, it may take only a part
        if ($this->output !== '' && @fwrite(STDOUT, $this->output) !== strlen($this->output)) {
            $this->over = true; // the client is gone
        }
        $this->output = '';
    }
}
