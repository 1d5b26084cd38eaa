<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\Cli\Adopt\Names;
use MailQueue\Internal;
use MailQueue\OnUncertain;

/** Settings from options, the environment and php.ini, in this order, and the queue they name. */
final class Settings
{
    /** Options that name the queue beside its database, and those that say where mail goes. */
    private const OF_QUEUE = ['table', 'config-table', 'reference-column', 'orphan-check',
        'backoff', 'bootstrap'];
    private const OF_RELAY = ['transport', 'relays', 'dkim', 'verdicts', 'accounts'];

    public readonly Bootstrap $bootstrap;
    private ?MailQueue $queue = null;
    /** @var array<string, string>|null */
    private ?array $relays = null;

    public function __construct(private readonly Arguments $args)
    {
        $accounts = $args->text('accounts');
        if ($accounts === '') {
            throw Stop::usage('--accounts is empty: give it a directory, or leave the option out.');
        }
        $accounts === null || putenv('MAILQUEUE_ACCOUNTS=' . (realpath($accounts) ?: $accounts));
        $file = $args->text('bootstrap');
        $this->bootstrap = $file === null ? new Bootstrap() : BootstrapFile::load($file);
    }

    /** A command on the same queue, as a person can type it. */
    public function command(string $words, bool $database = true): string
    {
        $line = "mailqueue $words";
        foreach ([...($database ? ['database'] : []), ...self::OF_QUEUE] as $name) {
            $value = $this->args->text($name);
            $line .= $value === null ? '' : " --$name " . Terminal::word($value);
        }
        return $line;
    }

    /**
     * The worker's line for a crontab, where this shell's variables, PATH and directory do not
     * count.
     */
    public function cronLine(): string
    {
        $line = ' work --quiet';
        foreach (['database', ...self::OF_QUEUE, ...self::OF_RELAY] as $name) {
            $value = $this->args->text($name) ?? $this->fromShell($name);
            $line .= $value === null ? ''
                : " --$name " . Terminal::word(self::absolute($name, $value));
        }
        $isFound = in_array(dirname(PROGRAM), ['/usr/bin', '/bin'], true); // on cron's PATH
        $isCrons = realpath('/usr/bin/php') === realpath(PHP_BINARY);
        return '* * * * * ' . str_replace('%', '\\%', match (true) {
            !$isCrons => Terminal::word(PHP_BINARY) . ' ' . Terminal::word(PROGRAM),
            $isFound => 'mailqueue',
            default => Terminal::word(PROGRAM),
        } . $line);
    }

    /** What this shell sets in place of an option, without secrets. */
    private function fromShell(string $name): ?string
    {
        $isNeeded = match ($name) {
            'database' => $this->bootstrap->queue === null,
            'relays' => $this->bootstrap->relays === null,
            'dkim' => $this->bootstrap->dkim === null,
            'verdicts', 'accounts' => true,
            default => false,
        };
        $value = $isNeeded ? Arguments::environment('MAILQUEUE_' . strtoupper($name)) : null;
        $isSecret = $name === 'database' && $value !== null && (new Named($value))->hasPassword;
        return $isSecret ? null : $value;
    }

    /** An option's value for a program in another working directory. */
    public static function absolute(string $name, string $value): string
    {
        if ($name === 'dkim') { // domain:selector:file, several with commas between
            return (string) preg_replace_callback(
                '/([^\s,:]+:[^\s,:]+:)([^\s,]+)/',
                static fn (array $match): string => $match[1]
                    . (realpath($match[2]) ?: $match[2]),
                $value
            );
        }
        $path = match ($name) {
            'database' => (new Named($value))->path,
            'bootstrap', 'relays', 'verdicts', 'accounts' => $value,
            default => null,
        };
        return $path === null ? $value : (realpath($path) ?: $value);
    }

    /** The database as the user named it; not needed with a bootstrap file's queue. */
    public function database(): string
    {
        self::refusePassword((string) $this->args->text('database'), '--database');
        return $this->args->text('database', 'MAILQUEUE_DATABASE', 'mailqueue.database')
            ?? throw Stop::config('No database is set. Give --database PATH, set '
                . 'MAILQUEUE_DATABASE, or mailqueue.database in php.ini.');
    }

    private static function refusePassword(string $database, string $where): void
    {
        if ((new Named($database))->hasPassword) {
            throw Stop::usage("No password in $where: every user of this machine can read it "
                . 'there (ps). Set MAILQUEUE_DATABASE_PASSWORD_FILE to a file of mode 0600, or '
                . 'MAILQUEUE_DATABASE_PASSWORD; for PostgreSQL there is also ~/.pgpass.');
        }
    }

    /** The path of the database's file; null if it is not a file. */
    public function databasePath(): ?string
    {
        if ($this->bootstrap->queue !== null) {
            return $this->bootstrap->queue->diagnostics()['database'] ?: null;
        }
        return (new Named($this->database()))->path;
    }

    /** @param bool $create whether a database that does not exist may be created */
    public function queue(bool $create = false): MailQueue
    {
        if ($this->queue === null && $this->bootstrap->queue === null && !$create) {
            $this->refuseMissing($this->database());
        }
        return $this->queue ??= $this->bootstrap->queue ?? $this->open($this->database());
    }

    /** A queue in another database, with the same table names. */
    public function at(string $database, bool $create): MailQueue
    {
        self::refusePassword($database, 'an argument');
        if (!$create) {
            $this->refuseMissing($database);
        }
        return $this->open($database);
    }

    /** A queue over an open connection. */
    public function over(\PDO $pdo): MailQueue
    {
        return $this->open($pdo);
    }

    private function open(string|\PDO $database): MailQueue
    {
        return new MailQueue(
            $database,
            table: $this->table(),
            configTable: $this->configTable(),
            referenceColumn: $this->args->text('reference-column') ?? 'reference',
            orphanCheck: $this->args->text('orphan-check'),
            backoff: Retries::backoff($this->args->text('backoff')),
        );
    }

    public function table(): string
    {
        return $this->args->text('table') ?? 'mail_queue';
    }

    public function configTable(): string
    {
        return $this->args->text('config-table') ?? 'config';
    }

    /** A mistyped name must not create an empty queue, in which cron would never find any mail. */
    private function refuseMissing(string $database): void
    {
        $named = new Named($database);
        $path = $named->path;
        if ($named->isServer) {
            $this->refuseMissingTables($database);
        }
        if ($path === null) {
            return; // opening it reports what is wrong
        }
        if (!ini_get('open_basedir') && !@file_exists($path)) {
            throw new Stop("There is no database $named->shown, or this user cannot reach it. "
                . 'Check the path; mailqueue migrate creates it.', ExitCode::CANTCREAT);
        }
        $this->refuseMissingTables($path);
    }

    /** @param string $database a path or a DSN */
    private function refuseMissingTables(string $database): void
    {
        $missing = $this->missingTables($database);
        if ($missing) {
            $named = new Named($database);
            [$shown, $name] = $named->isServer ? ['on the server', 'DSN']
                : [$named->shown, 'path'];
            throw new Stop(
                "The database $shown has no table " . implode(' and ', $missing)
                . ". Check the $name, --table and --config-table; mailqueue migrate with the same "
                . 'options creates it.' . ($this->isForeign($database, $missing)
                    ? " Another program made {$this->table()}: `mailqueue adopt` takes over its "
                    . 'mail.' : ''),
                ExitCode::CANTCREAT
            );
        }
    }

    /**
     * Whether the job table exists without its body table: then another program made it.
     *
     * @param list<string> $missing
     */
    private function isForeign(string $database, array $missing): bool
    {
        $body = (new Names(substr($this->table(), 0, 58)))->tables()[1];
        return !in_array($this->table(), $missing, true)
            && !in_array($body, Internal::tables($database, $body), true);
    }

    /** Null if no file holds the worker slots: for a server, or a queue of a bootstrap file. */
    public function workerSlot(): ?WorkerSlot
    {
        $path = $this->bootstrap->queue === null ? (new Named($this->database()))->path : null;
        $real = $path === null ? false : @realpath($path);
        return $real === false ? null : new WorkerSlot($real);
    }

    /** Whether the database has no mail_queue yet; false if options or a bootstrap name another. */
    public function hasNoQueueYet(): bool
    {
        if ($this->args->has('table') || $this->args->has('config-table')
            || $this->bootstrap->queue !== null) {
            return false;
        }
        $named = new Named($this->database());
        $where = $named->isServer ? $this->database() : $named->path;
        return $where !== null && ($named->isServer || @is_file($where))
            && in_array('mail_queue', $this->missingTables($where), true);
    }

    /**
     * @param string $path a path or a DSN
     * @return list<string>
     */
    private function missingTables(string $path): array
    {
        $names = [$this->table(), $this->configTable()];
        if (preg_grep('/\A[A-Za-z_]\w{0,62}\z/', $names, PREG_GREP_INVERT)) {
            return []; // opening the queue reports what is wrong with them
        }
        $isEmpty = @is_file($path) && @filesize($path) === 0;
        $there = $isEmpty ? [] : Internal::tables($path, ...$names);
        return array_values(array_diff($names, $there));
    }

    /** Null: use the default of runWorker(), which is php.ini's sendmail_path. */
    public function transport(): string|\Closure|null
    {
        if (Internal::hasSecret((string) $this->args->text('transport'))) {
            throw Stop::usage('No password in --transport: every user of this machine can read it '
                . 'there (ps). Set MAILQUEUE_TRANSPORT, mailqueue.transport in php.ini, or '
                . "'transport' in a bootstrap file.");
        }
        return $this->args->text('transport') ?? $this->bootstrap->transport
            ?? $this->args->text('transport', 'MAILQUEUE_TRANSPORT', 'mailqueue.transport');
    }

    /**
     * Which relay gets a mail; null: the transport, for all.
     *
     * @return array<string, string>|\Closure|null
     */
    public function relays(): array|\Closure|null
    {
        $file = $this->relaysFile();
        return $file === null ? $this->bootstrap->relays
            : $this->relays ??= BootstrapFile::relays($file);
    }

    /** The file that says which relay gets a mail; null: there is none, or the bootstrap file. */
    public function relaysFile(): ?string
    {
        return $this->args->text('relays') ?? ($this->bootstrap->relays === null
            ? $this->args->text('relays', 'MAILQUEUE_RELAYS') : null);
    }

    /** "domain:selector:/path/key.pem", several with commas between. */
    public function dkim(): ?string
    {
        return $this->args->text('dkim') ?? $this->bootstrap->dkim
            ?? $this->args->text('dkim', 'MAILQUEUE_DKIM', 'mailqueue.dkim');
    }

    /** The file with rules for replies, which runs and Internal::verdict() use then; null: none. */
    public function verdicts(): ?string
    {
        $file = $this->args->text('verdicts', 'MAILQUEUE_VERDICTS', 'mailqueue.verdicts');
        if ($file !== null && $file !== ini_get('mailqueue.verdicts')
            && (!function_exists('ini_set') || ini_set('mailqueue.verdicts', $file) === false)) {
            throw Stop::config('mailqueue.verdicts cannot be set here: php.ini disables ini_set(). '
                . "Set it in php.ini: mailqueue.verdicts = $file");
        }
        return $file;
    }

    public function onUncertain(): OnUncertain
    {
        return OnUncertain::tryFrom($this->args->text('on-uncertain') ?? 'retry')
            ?? throw Stop::usage('--on-uncertain must be retry or hold.');
    }

    /**
     * A number for runWorker(), in its range: from the option or the environment; null: not given.
     *
     * @param string|null $option its name, if it differs from the argument's
     */
    public function workIntOrNull(string $argument, ?string $option = null): ?int
    {
        $name = 'DISPATCH_' . strtoupper($argument);
        [$min, $max] = Internal::limits()[$argument];
        return $this->args->int($option ?? $argument, null, $min, $max)
            ?? (in_array($name, Retries::OF_WORK, true)
                ? Arguments::environmentInt($name, $min, $max) : null);
    }

    /** The same, or the default of runWorker(). */
    public function workInt(string $argument, ?string $option = null): int
    {
        return $this->workIntOrNull($argument, $option) ?? (int) $this->workDefaults()[$argument];
    }

    /** @return array<string, mixed> runWorker()'s defaults, by argument */
    public function workDefaults(): array
    {
        $arguments = (new \ReflectionMethod(MailQueue::class, 'runWorker'))->getParameters();
        return array_column(array_map(static fn (\ReflectionParameter $one): array
            => [$one->name, $one->getDefaultValue()], $arguments), 1, 0);
    }
}
