<?php

/**
 * @generate-class-entries
 * @undocumentable
 */

namespace {
    /**
     * A queue of e-mail in the database that the application already has.
     *
     * Times are UTC seconds since 1970 (or DateTimeInterface where a parameter says so), durations are
     * seconds unless a name says otherwise. Every method throws MailQueue\DatabaseException when the
     * database fails; after an exception nothing of that call is stored.
     *
     * @strict-properties
     * @not-serializable
     */
    final class MailQueue implements MailQueue\Enqueuer
    {
        /**
         * Opens the queue and creates or updates its tables.
         *
         * @param string|\PDO $database path of an SQLite file, or "sqlite:" and a path; it is created when
         *        missing. Or the DSN of a server, "pgsql:host=db;dbname=app", "mysql:host=db;dbname=app": a
         *        connection of the queue's own, opened anew when it was lost; without user and password in it they come from
         *        MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD or MAILQUEUE_DATABASE_PASSWORD_FILE
         *        (a file of mode 0600), else from the ini settings mailqueue.database_user and
         *        mailqueue.database_password, else from what PostgreSQL's client finds (~/.pgpass).
         *        Or the application's own PDO (SQLite; PostgreSQL from 9.5 on; MySQL from 8.0.4, MariaDB
         *        from 10.6 on): enqueue() then joins the transaction that is open on it, by a savepoint,
         *        and commit and rollback are the application's; without one it makes its own. PDO's
         *        attributes stay as they are, on SQLite and MySQL lastInsertId() does not; a fatal error
         *        leaves the transaction to be rolled back by the application. PDO's exception is the
         *        previous of a DatabaseException. runWorker() opens the same SQLite file by itself, and
         *        runs on a server's connection as it is.
         * @param string $table the queue's table
         * @param string $configTable key/value table (`key`, `value`) that steers the queue; may be the
         *        application's own
         * @param string $referenceColumn name of the column for references
         * @param string|null $orphanCheck "table.column": a waiting mail whose reference is not found
         *        there is deleted
         * @param MailQueue\Backoff|null $backoff null: MailQueue\Backoff::steps()
         * @param string|null $journal journal mode for a file that is created: "wal", "truncate" or
         *        "delete"; null: "wal" where this SQLite is known to be safe with it, else "truncate"
         * @param string $durability "full" (an id is returned only for what survives a power cut) or
         *        "normal"
         * @param int $busyTimeout milliseconds to wait for another connection's locks, 0 … 3600000
         * @throws \ValueError for an argument out of range
         * @throws MailQueue\DatabaseException also while a server is away (reason "io"). A file that this user
         *         may only read can be looked at (stats(), jobs(), job(), config(), diagnostics()): what writes
         *         throws it then (reason "readonly")
         * @throws MailQueue\Exception for a DSN, user or password that a server refuses
         */
        public function __construct(string|\PDO $database, string $table = 'mail_queue', string $configTable = 'config', string $referenceColumn = 'reference', ?string $orphanCheck = null, ?MailQueue\Backoff $backoff = null, ?string $journal = null, string $durability = 'full', int $busyTimeout = 5000) {}

        /**
         * The queue that the ini setting mailqueue.database names; a new object each time.
         *
         * @throws MailQueue\Exception when the setting is empty
         */
        public static function default(): MailQueue {}

        /**
         * Stores a mail durably and returns its id, or null where a mail with the same reference and type
         * is queued already. A mail of the pair that is parked or has expired is replaced.
         *
         * A message is one of:
         * - an array of fields. `from`, `to`, `cc`, `bcc`, `reply_to`: "Name <a@example.org>", several with
         *   commas, a list of these, a map of addresses to names, or entries with `address` and `name`; one
         *   of `to`, `cc`, `bcc` is needed. `subject`. `text`, `html`: one of them at least; a missing text
         *   is made from the HTML. `headers`: values by name. `attachments`: paths of local files, streams,
         *   or arrays with one of `path`, `data` and `stream`, and `name`, `type`; a string as key is the
         *   name. `inline`: the same for what the HTML shows; a string as key is the cid
         *   (`'inline' => ['logo' => '/path/logo.png']` for `<img src="cid:logo">`). `date`. `message_id`.
         *   `unsubscribe`: https: or mailto: URIs. Null is as good as not given, a Stringable as a string.
         *   Tabs, vertical tabs, form feeds, U+0085, U+2028 and U+2029 in a subject, a name or a header's
         *   value become spaces; other control characters, CR and LF too, are errors;
         * - a complete message (RFC 5322) with any line ends. Without $envelopeFrom or $recipients its
         *   headers say (see envelope()); Bcc does not stay in it. Lines over 998 octets are encoded or
         *   folded, bytes over 127 in the headers encoded; with a DKIM-Signature in it nothing is, and what
         *   SMTP cannot carry is refused;
         * - such a message as an object: a Stringable, or what has a public method toString(), such as a
         *   Symfony\Component\Mime\Email. Where an object with toString() has getTo(), getCc() and getBcc(),
         *   or getHeaders() whose all() finds these fields, they say to whom it goes; so Bcc is obeyed, which
         *   is not in the text. The sender is the first of getSender(), getReturnPath() and getFrom(). An
         *   address is a string or an object with getAddress();
         * - null: the worker's compose function makes it when it is sent.
         *
         * @phpstan-param array{
         *     from: string|\Stringable|array<mixed>, to?: string|\Stringable|array<mixed>|null,
         *     cc?: string|\Stringable|array<mixed>|null, bcc?: string|\Stringable|array<mixed>|null,
         *     reply_to?: string|\Stringable|array<mixed>|null, subject: string|\Stringable,
         *     text?: string|\Stringable|null, html?: string|\Stringable|null,
         *     headers?: array<string, string|\Stringable|int|list<string|\Stringable|int>|null>|null,
         *     attachments?: array<string|\Stringable|resource|array{path?: string|\Stringable|null,
         *         data?: string|\Stringable|null, stream?: resource|null, name?: string|\Stringable|null,
         *         type?: string|\Stringable|null, cid?: string|\Stringable|null}>|string|\Stringable|resource|null,
         *     inline?: array<string|\Stringable|resource|array<string, mixed>>|string|\Stringable|resource|null,
         *     date?: \DateTimeInterface|int|null, message_id?: string|\Stringable|null,
         *     unsubscribe?: string|\Stringable|list<string|\Stringable>|null
         * }|string|object|null $message
         * @param string|null $reference what the mail is about, at most 190 octets
         * @param string $type kind of mail, at most 64 octets
         * @param int $priority -100 … 100; larger first
         * @param \DateTimeInterface|int|null $sendAt not before this time
         * @param \DateTimeInterface|int|null $expiresAt deleted when not sent by then
         * @param int|null $maxAttempts 1 … 1000; null: as the backoff policy says
         * @param string|null $envelopeFrom sender of the envelope; '' is the null reverse-path of bounces;
         *        null: the message says
         * @phpstan-param list<string|\Stringable>|null $recipients addresses of the envelope, at most 10000;
         *        null: the message says
         * @phpstan-param array{notify?: string|list<string>|null, ret?: string|null, envid?: string|null}|null $dsn
         *        delivery status notifications (RFC 3461), asked of relays that offer them. `notify`: when,
         *        'never' or any of 'success', 'failure' and 'delay'; `ret`: what comes back with a bounce,
         *        'full' or 'hdrs'; `envid`: a name of yours for this mail, 1 to 100 characters of ASCII
         *        without spaces. null: as the relay does
         * @throws MailQueue\MessageException names the field, the cause and the cure; nothing is stored
         * @throws \ValueError for an argument out of range
         */
        public function enqueue(array|string|object|null $message = null, ?string $reference = null, string $type = 'mail', int $priority = 0, \DateTimeInterface|int|null $sendAt = null, \DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null): ?int {}

        /**
         * Stores many mails, 100 in a transaction, or fewer that have 16 MiB: composes each chunk before its
         * transaction begins.
         *
         * @phpstan-param iterable<array<string, mixed>> $messages arrays keyed by enqueue()'s parameter names
         * @return int how many were new
         * @throws MailQueue\MessageException names the field and the message's number (from 0); the chunks
         *         before its own are stored, its own is not
         */
        public function enqueueMany(iterable $messages): int {}

        /**
         * What a complete message's own headers say of its envelope, as sendmail -t reads them: Resent-To,
         * Resent-Cc and Resent-Bcc where it has them, else To, Cc and Bcc; the sender is the first of
         * Resent-Sender, Resent-From, Sender and From. Of an object, what enqueue() takes of it.
         *
         * @return array{from: ?string, recipients: list<string>} plain addresses, domains in A-labels, each
         *         once; null: the message does not say
         * @throws MailQueue\MessageException names the header at fault
         */
        public static function envelope(string|object $message): array {}

        /**
         * Claims what is due, within the hourly limit, for a loop of your own. A job's $recipients are
         * those to send it to now: the test redirect has been applied, and where the limit allows fewer
         * than all, the others stay in the queue.
         *
         * @param int $limit 1 … 1000; fewer come where their messages have more than 64 MiB together, or more
         *        than memory holds
         * @param int $lease seconds until an unsettled claim is taken back, 5 … 86400
         * @return list<MailQueue\Job>
         */
        public function claim(int $limit = 1, int $lease = 900): array {}

        /** Settles a claimed job as sent to its $recipients. @return bool false: the lease was lost */
        public function complete(MailQueue\Job $job): bool {}

        /** Gives a claimed job back as it was before the claim. @return bool false: the lease was lost */
        public function release(MailQueue\Job $job): bool {}

        /** Extends a claim. @return bool false: the lease was lost */
        public function renew(MailQueue\Job $job, int $lease = 900): bool {}

        /**
         * Settles a claimed job as failed.
         *
         * @param bool $permanent true: refused for good, parked at once
         * @param int|null $retryAfter seconds, instead of the backoff policy's delay
         * @return bool false: the lease was lost
         */
        public function fail(MailQueue\Job $job, string $error, bool $permanent = false, ?int $retryAfter = null): bool {}

        /**
         * Takes back claims whose lease is over. Workers do so by themselves.
         *
         * @param int|null $now UTC seconds; null: the clock
         * @return int how many
         */
        public function recoverStuckSending(?int $now = null): int {}

        /**
         * Takes tokens of the hourly limit for mail that is sent elsewhere.
         *
         * @return int how many there were, at most $wanted
         */
        public function takeTokens(int $wanted): int {}

        /**
         * Sends what is due and returns when nothing is, when the hourly limit is reached, or at a limit
         * below. On the command line only.
         *
         * @phpstan-param string|(\Closure(MailQueue\Job, string, string, list<string>): mixed)|null $transport
         *        DSN such as "smtp://user:pass@host:587",
         *        "sendmail://default?command=/usr/sbin/sendmail" or "file:///var/mail/queue" (a Maildir); or
         *        function (MailQueue\Job $job, string $message, string $from, list<string> $recipients): returning
         *        means accepted, MailQueue\RefusedException refused, MailQueue\TransportException the relay's
         *        trouble, any other exception: try later. null: ini mailqueue.transport, and where that is not
         *        set "sendmail://default", which starts the program of php.ini's sendmail_path
         * @phpstan-param (callable(MailQueue\Job): (array<string, mixed>|string|object|null))|null $compose for
         *        jobs without a message: the message; null deletes the job, an exception means: try later
         * @param int $connections sessions at most, 1 … 1000
         * @param int $batch jobs a claim, 1 … 1000
         * @param int $lease seconds, longer than the transport waits for the reply to the final dot
         * @param int|null $timeLimit seconds after which nothing more is claimed; what is under way is waited
         *        for
         * @param int|null $messageLimit jobs at most
         * @param int $maxWorkers runs at the same time on this queue, 1 … 64; on a server, of all machines
         * @param int $grace seconds that SIGTERM or SIGINT leave to what is under way; then it is cut off, and
         *        what waits for the reply to its final dot is uncertain. A run that ends by itself waits for
         *        that as long as the transport does; what has no body out after so long goes back
         * @param bool $daemon wait for more mail instead of returning
         * @param string|null $log path of the JSON-lines log; null: $MAIL_QUEUE_LOG, else
         *        $HOME/logs/mail-queue.log, else beside the database, or of a server in the run directory; '': none
         * @phpstan-param (callable(array{event: string, time: int, id: ?int, reference: ?string, type: ?string,
         *        attempt: ?int, uncertain: ?int, recipients: ?int, relay: ?string, reply: ?string, ms: ?int,
         *        nextAttemptAt: ?int}): mixed)|null $onEvent called for each event
         * @param string|null $dkim keys that sign, "domain:selector:/path/key.pem", several with commas; '': none;
         *        null: ini mailqueue.dkim
         * @param int $maxBytes of messages in memory at a time; a larger message is sent alone
         * @throws MailQueue\Exception outside the command line, without a transport, or with keys that cannot be
         *         used
         * @throws \ValueError
         */
        public function runWorker(string|\Closure|null $transport = null, ?callable $compose = null, int $connections = 10, int $batch = 100, int $lease = 900, ?int $timeLimit = null, ?int $messageLimit = null, int $maxWorkers = 1, int $grace = 30, bool $daemon = false, MailQueue\OnUncertain $onUncertain = MailQueue\OnUncertain::Retry, ?string $log = null, ?callable $onEvent = null, ?string $dkim = null, int $maxBytes = 67_108_864): MailQueue\Report {}

        /**
         * Whether runWorker() would take a transport, without a connection: for settings that people type.
         *
         * @param string $transport DSN as for runWorker()
         * @param int $lease that the run is to have; the transport must wait less long for its last reply
         * @return string the DSN for people: without password and options
         * @throws \ValueError says what is wrong with it, and the cure
         */
        public static function checkTransport(string $transport, int $lease = 900): string {}

        public function stats(): MailQueue\Stats {}

        /**
         * Jobs in the order of their ids, without their messages.
         *
         * @param int $limit 1 … 10000
         * @param int $after an id: only later ones
         * @return list<MailQueue\Job>
         */
        public function jobs(?MailQueue\Status $status = null, int $limit = 50, int $after = 0): array {}

        /**
         * Rows that nothing is done with, for their status is none that this version knows, or "sending"
         * without a lease: a newer version wrote them, or another program. jobs() leaves out the former.
         * Reads the whole table.
         *
         * @return array<int, string> id → status, the first 100
         */
        public function strays(): array {}

        /** One job with its message, or null. */
        public function job(int $id): ?MailQueue\Job {}

        /**
         * Brings failed mail back, with the recipients that were refused.
         *
         * @phpstan-param list<int>|null $ids null: all that waits for its next attempt, or is parked because it was
         *        refused or its attempts are used up; ids: any that are parked or failed
         * @param bool $resetAttempts false: one more attempt only for what is parked, and no other number of them for
         *        what waits
         * @return int how many
         */
        public function retryFailed(?array $ids = null, bool $resetAttempts = true): int {}

        /**
         * Parks what is waiting.
         *
         * @phpstan-param list<int> $ids
         * @return int how many
         */
        public function hold(array $ids): int {}

        /**
         * Deletes what is not being sent at the moment: 1,000 mails, or about 4 MiB of messages, in a
         * transaction, so that of more some may be gone when it throws.
         *
         * @phpstan-param list<int> $ids
         * @return int how many
         */
        public function delete(array $ids): int {}

        /** A value of the config table, null when unset. */
        public function config(string $key): ?string {}

        /**
         * Sets a value of the config table; null unsets it.
         *
         * @throws \ValueError for a value that the key does not allow
         */
        public function setConfig(string $key, string|int|float|bool|null $value): void {}

        /**
         * Creates or updates the tables; opening an older queue does, too. A mail_queue of another program
         * is left as it is: `mailqueue adopt` makes it the queue's.
         *
         * @return int the schema's version
         * @throws MailQueue\DatabaseException that says what another program's table lacks
         */
        public function migrate(): int {}

        /**
         * Versions, paths and known faults, for diagnosis.
         *
         * @return array{sqlite: string, libcurl: string, walSafe: bool, database: string, journal: string,
         *         runDirectory: string, log: string, workers: int, server: null|array{kind: string,
         *         version: string, ahead: float, autovacuum: bool, readOnly: bool, standby: bool,
         *         encrypted: bool, oldestTransaction: int|null, sharesSessions: bool}} "server" is null for
         *         a file; "ahead" are seconds that its clock is ahead of this host's,
         *         "oldestTransaction" seconds; "sharesSessions": a pooler before PostgreSQL gives
         *         each transaction another session
         */
        public function diagnostics(): array {}

        /**
         * The keys of the config table that steer the queue.
         *
         * @return array<string, array{type: string, range: string, default: string, meaning: string, internal: bool}>
         */
        public static function configKeys(): array {}
    }
}

namespace MailQueue {
    /**
     * What bin/mailqueue needs and no application does.
     *
     * @internal its form may change
     */
    final class Internal
    {
        /**
         * What a text that names a database is, and what of it may be printed.
         *
         * @return array{shown: string, password: ?bool, server: bool, path: ?string} without user and
         *         secrets; whether a password is in it, null where it is a DSN that cannot be read;
         *         whether it is the DSN of a server; the path of a file, null where it cannot be one
         */
        public static function describe(string $database): array {}

        /**
         * Which of a queue's two tables a database has; unlike `new MailQueue()` this creates and
         * changes nothing.
         *
         * @param string $database path of an SQLite file that exists, "sqlite:" and a path, or the DSN of
         *        a server
         * @return list<string> of $table and $configTable those that are there
         * @throws DatabaseException also where the file does not exist or is empty
         */
        public static function tables(string $database, string $table = 'mail_queue', string $configTable = 'config'): array {}

        /**
         * A new connection to a server, with the user and password that `new MailQueue($database)`
         * finds.
         *
         * @throws Exception that does not have the password
         */
        public static function connect(string $database): \PDO {}

        /**
         * The columns of a queue's job table.
         *
         * @return array<string, 'integer'|'bigint'|'text'> "integer" has 32 bits on a server
         */
        public static function columns(\MailQueue $queue): array {}

        /**
         * Takes one of a file's worker slots for the next runWorker() of this process, without looking
         * into the file.
         *
         * @param string $database path of the file
         * @param string|null $log as in runWorker()
         * @return Report|null of the run that would find all slots taken, which the log has then;
         *         null: go on
         */
        public static function takeSlot(string $database, int $maxWorkers, ?string $log = null): ?Report {}

        /**
         * Whether a file has a POSIX access control list (acl(5)), whose mask stands where the group's
         * rights do otherwise.
         */
        public static function hasAcl(string $path): bool {}
    }

    /** What an application needs to queue mail: to type-hint, and to replace in its tests. */
    interface Enqueuer
    {
        public function enqueue(array|string|object|null $message = null, ?string $reference = null, string $type = 'mail', int $priority = 0, \DateTimeInterface|int|null $sendAt = null, \DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null): ?int;

        public function enqueueMany(iterable $messages): int;
    }

    enum Status: string
    {
        case Pending = 'pending';
        case Sending = 'sending';
        case Failed = 'failed';
        case Parked = 'parked';
        case Held = 'held';
    }

    /** What follows when nobody knows whether the relay took a mail. */
    enum OnUncertain: string
    {
        /** Send again: at most one extra copy an attempt, with the same Message-ID. */
        case Retry = 'retry';
        /** Park it for a person. */
        case Hold = 'hold';
    }

    /**
     * When a mail that could not be sent is tried again.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Backoff
    {
        /** "steps", "exponential" or "fixed" */
        public readonly string $policy;
        public readonly int $maxAttempts;

        private function __construct() {}

        /** After 1, 5 and 15 minutes, then hourly; parked at the tenth failure. */
        public static function steps(int $maxAttempts = 10): Backoff {}

        /**
         * min(base · 2ⁿ, max) seconds after the n-th failure, ± jitter.
         *
         * @param float $jitter 0 … 1
         */
        public static function exponential(int $base = 30, int $max = 3600, float $jitter = 0.2, int $maxAttempts = 5): Backoff {}

        public static function fixed(int $delay = 15, int $maxAttempts = 50): Backoff {}
    }

    /**
     * One mail of the queue, as it was when it was read. Times are UTC seconds.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Job
    {
        public readonly int $id;
        public readonly ?string $reference;
        public readonly string $type;
        public readonly Status $status;
        public readonly int $priority;
        /** Failed attempts and the one under way. */
        public readonly int $attempts;
        public readonly ?int $maxAttempts;
        /** Attempts whose outcome nobody knows. */
        public readonly int $uncertain;
        public readonly int $nextAttemptAt;
        public readonly ?int $expiresAt;
        public readonly ?int $lockedUntil;
        /** Claim token of the worker that has it. */
        public readonly ?string $lockedBy;
        public readonly ?int $lastAttemptAt;
        public readonly ?string $lastError;
        /** "refused", "exhausted", "uncertain" or "hold" */
        public readonly ?string $parkedFor;
        public readonly int $createdAt;
        /** With angle brackets; the same for every attempt. */
        public readonly string $messageId;
        public readonly ?string $envelopeFrom;
        /**
         * Of a claimed job those whom it goes to this time, else those still to be tried; null: composing
         * says.
         *
         * @var list<string>|null
         */
        public readonly ?array $recipients;
        /** @var array<string, string> address → reply, of those given up */
        public readonly array $refused;
        /** The stored message as it goes over the wire; null: composed when sent, or not loaded by jobs(). */
        public readonly ?string $message;

        private function __construct() {}
    }

    /**
     * @strict-properties
     * @not-serializable
     */
    final class Stats
    {
        public readonly int $pending;
        public readonly int $sending;
        public readonly int $failed;
        public readonly int $parked;
        public readonly int $held;
        /** Pending or failed and due now. */
        public readonly int $due;
        /** When the oldest waiting mail was enqueued. */
        public readonly ?int $oldestWaitingSince;
        public readonly ?int $nextDueAt;
        public readonly bool $enabled;
        /** Recipients an hour; 0: no limit. */
        public readonly int $limit;
        public readonly int $burst;
        /** "average" or "strict" */
        public readonly string $rateMode;
        /** There now; null without a limit. */
        public readonly ?float $tokens;
        /** Seconds until all that waits is sent at the present limit; null without one. */
        public readonly ?int $emptyIn;
        public readonly ?int $lastRunAt;
        /** Until when the relay is paused. */
        public readonly ?int $pausedUntil;
        public readonly ?string $pauseReason;
        /** The relay that is paused, or the one whose pause ends last; without a password. */
        public readonly ?string $pausedRelay;
        /** Test mode: the address, or "@domain", that replaces recipients now; null: off. */
        public readonly ?string $redirectTo;

        private function __construct() {}
    }

    /**
     * What a worker run did: numbers of jobs unless named otherwise.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Report
    {
        /** "empty", "tokens", "time", "messages", "signal", "relay", "locked" or "disabled": why it ended */
        public readonly string $end;
        /** The relay's trouble in words. */
        public readonly ?string $reason;
        /** From when a new run can do more, when the relay or the limit ended this one. */
        public readonly ?int $resumeAt;
        public readonly int $claimed;
        public readonly int $sent;
        /** Recipients that were accepted. */
        public readonly int $recipients;
        public readonly int $tryLater;
        public readonly int $refused;
        public readonly int $parked;
        public readonly int $uncertain;
        public readonly int $expired;
        public readonly int $orphans;
        public readonly int $stale;
        public readonly int $released;
        public readonly int $recovered;
        /** Of the uncertain ones: cut off when a signal's grace period was over. */
        public readonly int $cutOff;
        public readonly float $seconds;

        private function __construct() {}
    }

    /** The root of this extension's exceptions. */
    class Exception extends \Exception
    {
    }

    /** The database failed; the text names the path, the cause and the cure. */
    class DatabaseException extends Exception
    {
        /**
         * "busy", "readonly", "cantopen", "full", "corrupt", "io", "replaced", "schema" or "database".
         * With "busy", "readonly", "cantopen", "corrupt" and "schema" nothing was stored. With "io",
         * "full", "replaced" and "database" it may have been, when the failure came with or after the
         * commit: then the text says so. A `reference` keeps a second attempt from storing the mail twice.
         */
        public readonly string $reason;

        /** For what stands in for a queue in an application's tests. */
        public function __construct(string $message = '', int $code = 0, ?\Throwable $previous = null, string $reason = 'database') {}
    }

    /** A message cannot be sent as it is; nothing was stored. */
    class MessageException extends Exception
    {
        /** The field at fault: "to", "to[3]", "attachments[0]", "headers[X-Name]", "message", … */
        public readonly string $field;

        /** For what stands in for a queue in an application's tests. */
        public function __construct(string $message = '', int $code = 0, ?\Throwable $previous = null, string $field = 'message') {}
    }

    /** Thrown by a transport Closure: the relay is in trouble; attempts are not counted. */
    class TransportException extends Exception
    {
    }

    /** Thrown by a transport Closure: this mail is refused for good. */
    class RefusedException extends Exception
    {
    }
}
