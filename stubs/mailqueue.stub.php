<?php

/**
 * @generate-class-entries
 * @undocumentable
 */

namespace {
    /**
     * A queue of e-mail in the database that the application already has.
     *
     * Times are UTC seconds since 1970 (or DateTimeInterface where a parameter says so). Durations are
     * seconds, unless a name says otherwise. Every method throws MailQueue\DatabaseException when the
     * database fails. After an exception nothing of that call is stored.
     *
     * @phpstan-import-type Progress from MailQueue\Campaign
     * @strict-properties
     * @not-serializable
     */
    final class MailQueue implements MailQueue\Enqueuer
    {
        /**
         * Opens the queue and creates or updates its tables.
         *
         * @param string|\PDO $database one of:
         *        - the path of an SQLite file, or "sqlite:" and a path; the file is created if it is missing;
         *        - the DSN of a server, "pgsql:host=db;dbname=app" or "mysql:host=db;dbname=app": a connection
         *          of the queue's own, which is opened again after it was lost. A user and password that the DSN
         *          does not have come from MAILQUEUE_DATABASE_USER, MAILQUEUE_DATABASE_PASSWORD or
         *          MAILQUEUE_DATABASE_PASSWORD_FILE (a file of mode 0600), or else from the ini settings
         *          mailqueue.database_user and mailqueue.database_password, or else from what PostgreSQL's client
         *          finds (~/.pgpass);
         *        - the application's own PDO (SQLite; PostgreSQL 9.5, MySQL 8.0.4, MariaDB 10.6 or later).
         *          enqueue() then joins the transaction that is open on it, by a savepoint, and the application
         *          commits or rolls back. Without an open transaction it makes its own. PDO's attributes stay as
         *          they are; on SQLite and MySQL lastInsertId() does not. After a fatal error the application
         *          must roll back. PDO's exception is the previous one of a DatabaseException. runWorker() opens
         *          the same SQLite file itself; on a server it uses the connection as it is.
         * @param string $table the queue's table; not "mail", whose other tables would be mail_queue's
         * @param string $configTable key/value table (`key`, `value`) that steers the queue; may be the
         *        application's own
         * @param string $referenceColumn name of the column for references
         * @param string|null $orphanCheck "table.column": waiting mail whose reference is not found there is
         *        deleted
         * @param MailQueue\Backoff|null $backoff null: MailQueue\Backoff::steps()
         * @param string|null $journal journal mode for a file that is created: "wal", "truncate" or
         *        "delete"; null: "wal" if this SQLite is known to be safe with it, otherwise "truncate"
         * @param string $durability "full" (an id is returned only for what survives a power cut) or
         *        "normal"
         * @param int $busyTimeout milliseconds to wait for another connection's locks, 0 … 3600000
         * @throws \ValueError for an argument out of range
         * @throws MailQueue\DatabaseException also while a server is away (reason "io"). If this user may only
         *         read the file, stats(), jobs(), job(), config() and diagnostics() work, and methods that write
         *         throw it (reason "readonly")
         * @throws MailQueue\Exception for a DSN, user or password that a server refuses
         */
        public function __construct(#[\SensitiveParameter] string|\PDO $database, string $table = 'mail_queue', string $configTable = 'config', string $referenceColumn = 'reference', ?string $orphanCheck = null, ?MailQueue\Backoff $backoff = null, ?string $journal = null, string $durability = 'full', int $busyTimeout = 5000) {}

        /**
         * The queue that the ini setting mailqueue.database names; a new object each time.
         *
         * @throws MailQueue\Exception if the setting is empty
         */
        public static function default(): MailQueue {}

        /**
         * Stores a mail durably and returns its id, or null if a mail with the same reference and type is
         * already queued. A mail of the pair that is parked or has expired is replaced.
         *
         * A message is one of:
         * - an array of fields. `from`, `to`, `cc`, `bcc`, `reply_to`: "Name <a@example.org>", several with
         *   commas, a list of these, a map of addresses to names, or entries with `address` and `name`; at
         *   least one of `to`, `cc`, `bcc`. `subject`. `text`, `html`: at least one of them; a missing text is
         *   made from the HTML. `calendar`: iCalendar data with a METHOD, for an invitation. `headers`: values by name. `attachments`: paths of local files, streams, or
         *   arrays with one of `path`, `data` and `stream`, and `name`, `type` (by default the one of the name's
         *   extension); a string as key is the name.
         *   `inline`: the same for what the HTML shows; a string as key is the cid
         *   (`'inline' => ['logo' => '/path/logo.png']` for `<img src="cid:logo">`). `date`. `message_id`.
         *   `unsubscribe`: https: or mailto: URIs; or `['list' => 'news', 'url' => 'https://…']` for mail to a list
         *   with one recipient, whose link gets a token that MailQueue\Web\Unsubscribe at that URL reads. Null means not given; a Stringable is taken as a string.
         *   Tabs, vertical tabs, form feeds, U+0085, U+2028 and U+2029 in a subject, a name or a header's
         *   value become spaces. Other control characters are errors, also CR and LF;
         * - a complete message (RFC 5322) with any line ends. Its headers give what $envelopeFrom and
         *   $recipients leave out (see envelope()). Bcc is removed. Lines over 998 octets are encoded or
         *   folded, and bytes over 127 in the headers are encoded. A message with a DKIM-Signature is not
         *   changed, and is refused if SMTP cannot carry it;
         * - such a message as an object: a Stringable, or an object with a public method toString(), such as
         *   Symfony\Component\Mime\Email. If an object with toString() has getTo(), getCc() and getBcc(), or
         *   getHeaders() whose all() finds these fields, they give the recipients; so Bcc is obeyed, which is
         *   not in the text. With only some of these methods it needs $recipients. The sender is the first of
         *   getSender(), getReturnPath() and getFrom(). An address is a string or an object with getAddress();
         * - null: the worker's compose function makes it when it is sent. A worker without one puts it back for
         *   an hour, and counts no attempt.
         *
         * @phpstan-param array{
         *     from: string|\Stringable|array<mixed>, to?: string|\Stringable|array<mixed>|null,
         *     cc?: string|\Stringable|array<mixed>|null, bcc?: string|\Stringable|array<mixed>|null,
         *     reply_to?: string|\Stringable|array<mixed>|null, subject: string|\Stringable,
         *     text?: string|\Stringable|null, html?: string|\Stringable|null, calendar?: string|\Stringable|null,
         *     headers?: array<string, string|\Stringable|int|list<string|\Stringable|int>|null>|null,
         *     attachments?: array<string|\Stringable|resource|array{path?: string|\Stringable|null,
         *         data?: string|\Stringable|null, stream?: resource|null, name?: string|\Stringable|null,
         *         type?: string|\Stringable|null, cid?: string|\Stringable|null}>|string|\Stringable|resource|null,
         *     inline?: array<string|\Stringable|resource|array<string, mixed>>|string|\Stringable|resource|null,
         *     date?: \DateTimeInterface|int|null, message_id?: string|\Stringable|null,
         *     unsubscribe?: string|\Stringable|list<string|\Stringable>|array{list: string|\Stringable,
         *         url: string|\Stringable}|null
         * }|string|object|null $message
         * @param string|null $reference what the mail is about, at most 190 octets
         * @param string $type kind of mail, at most 64 octets
         * @param int $priority -100 … 100; larger first
         * @param \DateTimeInterface|int|null $sendAt not before this time
         * @param \DateTimeInterface|int|null $expiresAt deleted if it is not sent by then
         * @param int|null $maxAttempts 1 … 1000; null: as the backoff policy says
         * @param string|null $envelopeFrom sender of the envelope; '' is the null reverse-path of bounces;
         *        null: as the message says. In 'bounces+*@example.org' a token for the recipient takes the place of
         *        the *: see docs/bounces.md
         * @phpstan-param list<string|\Stringable>|null $recipients addresses of the envelope, at most 10000;
         *        null: as the message says
         * @phpstan-param array{notify?: string|list<string>|null, ret?: string|null, envid?: string|null}|null $dsn
         *        delivery status notifications (RFC 3461), asked of relays that offer them. `notify`: when,
         *        'never' or any of 'success', 'failure' and 'delay'; `ret`: what a bounce returns,
         *        'full' or 'hdrs'; `envid`: a name of yours for this mail, 1 to 100 characters of ASCII
         *        without spaces. null: the relay decides
         * @param string|null $relay a key of the map of relays, at most 190 octets: the mail goes there. null: as
         *        the message's header X-MailQueue-Relay says (it is taken out), or else by the sender
         * @param string|null $list the list that it is mail to, such as "news", at most 185 octets: it goes to
         *        nobody who is unsubscribed from it (suppress()). null: as the message's `unsubscribe` says
         * @throws MailQueue\MessageException names the field, the cause and the cure; nothing is stored
         * @throws \ValueError for an argument out of range
         */
        public function enqueue(array|string|object|null $message = null, ?string $reference = null, string $type = 'mail', int $priority = 0, \DateTimeInterface|int|null $sendAt = null, \DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null, ?string $relay = null, ?string $list = null): ?int {}

        /**
         * Stores many mails, in transactions of 100, or fewer if they reach 16 MiB. Composes each chunk before
         * its transaction begins.
         *
         * @phpstan-param iterable<array<string, mixed>> $messages arrays keyed by enqueue()'s parameter names
         * @return int how many were new
         * @throws MailQueue\MessageException names the field and the message's number (from 0). Earlier
         *         chunks are stored, the message's own chunk is not
         * @throws MailQueue\Exception as enqueue(). After the first chunk, the text of each exception of the
         *         queue says so: "…; the first 200 mails were stored before". Skip those when you try again,
         *         unless you roll back a transaction of your own.
         *         An exception of your own generator comes as it is; if the generator returns instead, what
         *         it gave is stored
         */
        public function enqueueMany(iterable $messages): int {}

        /**
         * The envelope in a complete message's own headers, as sendmail -t reads them: Resent-To, Resent-Cc
         * and Resent-Bcc if it has them, or else To, Cc and Bcc. The sender is the first of Resent-Sender,
         * Resent-From, Sender and From. For an object, it is what enqueue() reads from it.
         *
         * @return array{from: ?string, recipients: list<string>} plain addresses, each once, with domains in
         *         A-labels; null: the message does not say
         * @throws MailQueue\MessageException names the header at fault
         */
        public static function envelope(string|object $message): array {}

        /**
         * Claims what is due, within the hourly limit, for a loop of your own. Send a job to its $recipients:
         * the test redirect is already applied, and if the limit allows fewer than all, the others stay in
         * the queue.
         *
         * @param int $limit 1 … 1000; fewer jobs are returned if their messages have more than 64 MiB
         *        together, or do not fit into memory
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
         * Takes back claims whose lease is over. Workers do so automatically.
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
         * Sends what is due. Returns when nothing is due, when the hourly limit is reached, or at one of the
         * limits below. On the command line only.
         *
         * @phpstan-param string|(\Closure(MailQueue\Job, string, string, list<string>): mixed)|null $transport
         *        DSN such as "smtp://user:pass@host:587",
         *        "sendmail://default?command=/usr/sbin/sendmail" or "file:///var/mail/queue" (a Maildir); or
         *        function (MailQueue\Job $job, string $message, string $from, list<string> $recipients): to
         *        return means accepted; MailQueue\RefusedException: refused; MailQueue\TransportException: the
         *        relay is in trouble; any other exception: try later. null: ini mailqueue.transport, or if that
         *        is not set "sendmail://default", which starts the program of php.ini's sendmail_path
         * @phpstan-param (callable(MailQueue\Job): (array<string, mixed>|string|object|null))|null $compose for
         *        returns the message of a job that has none; null deletes the job, an exception means: try later
         * @param int $connections at most so many sessions, 1 … 1000
         * @param int $batch jobs per claim, 1 … 1000
         * @param int $lease seconds, longer than the transport waits for the reply to the final dot
         * @param int|null $timeLimit seconds after which nothing more is claimed; deliveries in progress are
         *        waited for
         * @param int|null $messageLimit at most so many jobs
         * @param int $maxWorkers at most so many runs at the same time on this queue, 1 … 64; on a server, of
         *        all machines
         * @param int $grace seconds that SIGTERM or SIGINT leave to deliveries in progress. Then they are cut
         *        off, and those that wait for the reply to their final dot are uncertain. A run that reaches its
         *        own limit waits for these replies as long as the transport does; after so many seconds it gives
         *        back deliveries whose body has not been sent
         * @param bool $daemon wait for more mail instead of returning
         * @param string|null $log path of the JSON-lines log; null: $MAIL_QUEUE_LOG, else
         *        $HOME/logs/mail-queue.log, or else beside the database or, for a server, in the run directory; '': none
         * @phpstan-param (callable(array{event: string, time: int, id: ?int, reference: ?string, type: ?string,
         *        attempt: ?int, uncertain: ?int, recipients: ?int, relay: ?string, reply: ?string, ms: ?int,
         *        nextAttemptAt: ?int}): mixed)|null $onEvent called for each event
         * @param string|null $dkim keys that sign, "domain:selector:/path/key.pem", several with commas; '': none;
         *        null: ini mailqueue.dkim
         * @param int $maxBytes bytes of messages in memory at a time; a larger message is sent alone
         * @param bool $verbose the log's "sent" lines have the subject
         * @phpstan-param (callable(MailQueue\Job, string): string)|null $sign called for each attempt, with the
         *        message as it would be sent: returns the message that is sent, such as one with a signature by
         *        S/MIME or PGP. DKIM signs it after that. An exception means: try later
         * @phpstan-param array<string, string>|(\Closure(MailQueue\Job): string)|null $relays which relay gets a
         *        mail: senders' addresses, or "@domain", and DSNs as in $transport; "default" is for all other
         *        mail, instead of $transport. Or a function that returns the DSN for a job; '' means $transport
         * @phpstan-param (callable(MailQueue\Campaign): mixed)|null $onFinished called once for each campaign that
         *        has finished, by the first run that has one
         * @throws MailQueue\Exception outside the command line, without a transport, or if keys cannot be used
         * @throws \ValueError
         */
        public function runWorker(#[\SensitiveParameter] string|\Closure|null $transport = null, ?callable $compose = null, int $connections = 10, int $batch = 100, int $lease = 900, ?int $timeLimit = null, ?int $messageLimit = null, int $maxWorkers = 1, int $grace = 30, bool $daemon = false, MailQueue\OnUncertain $onUncertain = MailQueue\OnUncertain::Retry, ?string $log = null, ?callable $onEvent = null, ?string $dkim = null, int $maxBytes = 67_108_864, bool $verbose = false, ?callable $sign = null, #[\SensitiveParameter] array|\Closure|null $relays = null, ?callable $onFinished = null): MailQueue\Report {}

        /**
         * Without cron: sends what is due in the web server's process, after the visitor has the response.
         * PHP must be able to end the response first (fastcgi_finish_request(): FPM, FrankenPHP
         * without its worker mode; litespeed_finish_request(): LiteSpeed); else this does nothing and says so once in PHP's error
         * log. At most one process of a host does this at a time, at most every 10 seconds for a queue, and
         * none while a worker runs. The transport is that of the ini setting mailqueue.transport. The
         * session is closed and the response ends after the application's shutdown functions: what
         * destructors print later is lost. The visitor sees no failure: PHP's error log has it.
         *
         * @param int $seconds 1 … 300: nothing more is claimed after so long; deliveries in progress are
         *        waited for
         * @param int $mails 1 … 1000: at most so many jobs
         * @phpstan-param (callable(MailQueue\Job): (array<string, mixed>|string|object|null))|null $compose
         *        as for runWorker(); without it, jobs that have no message fail
         * @phpstan-param (callable(MailQueue\Job, string): string)|null $sign as for runWorker()
         * @phpstan-param array<string, string>|(\Closure(MailQueue\Job): string)|null $relays as for runWorker();
         *        without it, jobs that name a relay are put back
         * @return bool false: this PHP cannot
         * @throws \ValueError
         */
        public function runAfterResponse(int $seconds = 5, int $mails = 20, ?callable $compose = null, ?callable $sign = null, #[\SensitiveParameter] array|\Closure|null $relays = null): bool {}

        /**
         * Checks if runWorker() would take a transport, without connecting: for settings that people type.
         *
         * @param string $transport DSN as for runWorker()
         * @param int $lease the lease of the run; the transport must not wait as long for its last reply
         * @return string the DSN without password and options, for people
         * @throws \ValueError says what is wrong with it, and the cure
         */
        public static function checkTransport(#[\SensitiveParameter] string $transport, int $lease = 900): string {}

        /**
         * @param int|null $exactUpTo the greatest count that is exact; larger ones are estimated from 250 ids,
         *        so that a live page can ask every few seconds. null: all are exact, which takes 0.1 s for a
         *        million mails
         */
        public function stats(?int $exactUpTo = null): MailQueue\Stats {}

        /**
         * Jobs in the order of their ids, without their messages. Every argument that is given restricts the list.
         *
         * @param int $limit 1 … 10000
         * @param int $after an id: only later ones
         * @param string|null $recipient a part of a recipient's address, also of one that was refused; in upper
         *        or lower case, as $error and $subject (SQLite compares only ASCII letters so)
         * @param string|null $error a part of the last error
         * @param string|null $subject a part of the subject
         * @param int|null $createdBefore only mail that was enqueued before this time
         * @param bool $uncertain only mail that may have arrived: Job::$uncertainTo says at whom
         * @param bool $expected fill Job::$expectedAt: with an hourly limit, up to 10,000 mails are counted for
         *        each mail of the list
         * @param int|null $until an id: no later ones, so that a filter that no index serves need not read all
         *        mails at once
         * @param string|null $campaign only mail of the campaign of this name
         * @return list<MailQueue\Job>
         */
        public function jobs(?MailQueue\Status $status = null, int $limit = 50, int $after = 0, ?string $type = null, ?string $reference = null, ?string $recipient = null, ?string $error = null, ?string $subject = null, ?int $createdBefore = null, bool $uncertain = false, bool $expected = false, ?int $until = null, ?string $campaign = null): array {}

        /**
         * Rows that no worker touches, because their status is not known to this version, or is "sending"
         * without a lease: a newer version wrote them, or another program. jobs() leaves out those of an
         * unknown status. Reads the whole table.
         *
         * @return array<int, string> id → status, the first 100
         */
        public function strays(): array {}

        /** One job with its message, or null. */
        public function job(int $id): ?MailQueue\Job {}

        /** When a mail will go: its Job::$expectedAt; null if that is null or no job has this id. */
        public function expectedAt(int $id): ?int {}

        /**
         * Brings failed mail back, with the recipients that were refused. Without ids it does so in transactions of
         * 500 mails, unless it is within the application's; if one fails, what those before it brought back stays.
         *
         * @phpstan-param list<int>|null $ids null: all mail that waits for its next attempt, or is parked because it
         *        was refused or its attempts are used up; ids: any that are parked or failed, or that a run put
         *        back without an attempt
         * @param bool $resetAttempts false: parked mail gets only one more attempt, and the attempts of waiting mail
         *        stay as they are
         * @return int how many
         */
        public function retryFailed(?array $ids = null, bool $resetAttempts = true): int {}

        /**
         * Sends a mail again as a new one, whose Job::$resentOf names it. The old one leaves the queue in the same
         * transaction; it must not be being sent, nor have expired. The new one goes to the recipients that are
         * left and those that were refused, not to those that have it. It has the old one's reference, type,
         * priority and expiry, new attempts, and a new Message-ID and Date, unless the message has a
         * DKIM-Signature. A mail that was to be sent later is sent then.
         *
         * @param string|null $to an address that replaces one of the recipients, also in To and Cc of a stored
         *        message, which must not have a DKIM-Signature, nor a link to unsubscribe that names the old
         *        address
         * @param string|null $instead the recipient that it replaces; null: the only one that was refused, or if
         *        none was, the only one that is left
         * @return int the new id
         * @throws MailQueue\MessageException says why it cannot be sent again ("id"), or what is wrong with an
         *         address ("to", "instead"); nothing has changed
         */
        public function resend(int $id, ?string $to = null, ?string $instead = null): int {}

        /**
         * Counts mail that may have arrived (jobs(uncertain: true)) as sent to those recipients that may have it
         * (Job::$uncertainTo): in the counters and the history it is sent, and it leaves the queue. If it has other
         * recipients, it stays for them.
         *
         * @phpstan-param list<int> $ids others than such mail, and mail that is being sent, are left alone
         * @return int how many mails
         */
        public function countAsSent(array $ids): int {}

        /**
         * Parks what is waiting.
         *
         * @phpstan-param list<int> $ids
         * @return int how many
         */
        public function hold(array $ids): int {}

        /**
         * Deletes mail that is not being sent, in transactions of 1,000 mails or about 4 MiB of messages: when
         * it throws, some may already be deleted.
         *
         * @phpstan-param list<int> $ids
         * @return int how many
         */
        public function delete(array $ids): int {}

        /**
         * Suppresses an address: from now on no mail is sent to it, not even mail that waits already. A mail to it
         * is parked ("suppressed"), a mail to a list is deleted, and a mail with other recipients goes to those.
         * enqueue() does not fail for it.
         *
         * @param string $address case does not matter; a domain is stored in A-labels
         * @param string $reason "unsubscribe", "hard_bounce", "complaint" or "manual". An unsubscription of all mail
         *        stops mail to lists, not other mail, such as a password reset
         * @param string|null $scope the list that it is about, such as "list:news", or "campaign:spring", at most
         *        190 octets; null: all mail
         * @param string|null $source who or what says so, for people, at most 190 octets
         * @return bool false: it was suppressed for this reason and scope already
         * @throws MailQueue\MessageException for an address that cannot be one
         * @throws \ValueError for a reason or a scope that cannot be one
         */
        public function suppress(string $address, string $reason = 'manual', ?string $scope = null, ?string $source = null): bool {}

        /**
         * Removes the suppressions of an address. Mail that was parked for them stays parked: retryFailed() brings it
         * back.
         *
         * @param string|null $scope only those of this list; '': only those of all mail; null: any
         * @param string|null $reason only those with this reason; null: any
         * @return int how many
         */
        public function unsuppress(string $address, ?string $scope = null, ?string $reason = null): int {}

        /**
         * Why an address is suppressed; empty if it is not.
         *
         * @return list<array{id: int, address: ?string, scope: ?string, reason: string, source: ?string,
         *         createdAt: int}> scope null: all mail. address and source are null once `mailqueue forget` has
         *         deleted them
         */
        public function suppression(string $address): array {}

        /**
         * All suppressions, in the order in which they were made.
         *
         * @param int $limit 1 … 10000
         * @param int $after an id: only later ones
         * @param string|null $scope only those of this list; '': only those of all mail
         * @param string|null $reason only those with this reason
         * @return list<array{id: int, address: ?string, scope: ?string, reason: string, source: ?string,
         *         createdAt: int}>
         */
        public function suppressions(int $limit = 50, int $after = 0, ?string $scope = null, ?string $reason = null): array {}

        /**
         * The link by which a recipient leaves a list, as `unsubscribe` of enqueue() makes it: for the text of the
         * mail. MailQueue\Web\Unsubscribe answers it.
         *
         * @param string $list as in `'unsubscribe' => ['list' => …]`, such as "news"
         * @param string $url an https: URI without "#"
         * @throws MailQueue\MessageException for an address or a URI that cannot be one
         */
        public function unsubscribeUrl(string $address, string $list, string $url): string {}

        /**
         * The campaign of this name, which is created if there is none: one message for many recipients. See
         * docs/campaigns.md.
         *
         * @param string $name at most 100 octets
         * @throws \ValueError for a name that cannot be
         */
        public function campaign(string $name): MailQueue\Campaign {}

        /**
         * The campaigns, the newest first: of each what Campaign::progress() returns.
         *
         * @param int $limit 1 … 1000
         * @param int $before an id: only older ones; 0: from the newest
         * @phpstan-return list<Progress>
         */
        public function campaigns(int $limit = 50, int $before = 0): array {}

        /** A value of the config table, null when unset. */
        public function config(string $key): ?string {}

        /**
         * Sets a value of the config table; null unsets it.
         *
         * @throws \ValueError for a value that the key does not allow
         */
        public function setConfig(string $key, string|int|float|bool|null $value): void {}

        /**
         * Creates or updates the tables. Opening an older queue does so too. A mail_queue of another program
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
         *         a file; "ahead": seconds that its clock is ahead of this host's,
         *         "oldestTransaction" seconds; "sharesSessions": a pooler before PostgreSQL gives
         *         each transaction another session
         */
        public function diagnostics(): array {}

        /**
         * The keys of the config table that control the queue.
         *
         * @return array<string, array{type: string, range: string, default: string, meaning: string, internal: bool,
         *         aliasOf: ?string}> "aliasOf" is the key whose value a true one stands for where that is unset
         */
        public static function configKeys(): array {}
    }
}

namespace MailQueue {
    /**
     * What bin/mailqueue needs and no application does.
     *
     * @internal its form may change
     * @phpstan-import-type Progress from Campaign
     */
    final class Internal
    {
        /**
         * Parses a text that names a database, and says what of it may be printed.
         *
         * @return array{shown: string, password: ?bool, server: bool, path: ?string,
         *         runDirectory: ?string, log: ?string} shown: without user and secrets. password:
         *         whether there is one; null: a DSN that cannot be read. server: whether it is the
         *         DSN of a server. path: of the file; null: it cannot be one. runDirectory, log: the
         *         worker's, by default; null unless path is the file's real path
         */
        public static function describe(#[\SensitiveParameter] string $database): array {}

        /**
         * Which of a queue's two tables a database has. Unlike `new MailQueue()`, this creates and changes
         * nothing.
         *
         * @param string $database path of an SQLite file that exists, "sqlite:" and a path, or the DSN of
         *        a server
         * @return list<string> of $table and $configTable those that are there
         * @throws DatabaseException if the file does not exist or is empty, too
         */
        public static function tables(#[\SensitiveParameter] string $database, string $table = 'mail_queue', string $configTable = 'config'): array {}

        /**
         * A new connection to a server, with the user and password that `new MailQueue($database)`
         * finds.
         *
         * @throws Exception that does not have the password
         */
        public static function connect(#[\SensitiveParameter] string $database): \PDO {}

        /**
         * The columns of a queue's job table.
         *
         * @param \MailQueue|null $queue null: of any queue, with "{r}" for the reference column
         * @return array<string, 'integer'|'bigint'|'text'> "integer" has 32 bits on a server
         */
        public static function columns(?\MailQueue $queue): array {}

        /**
         * How many workers run now; on a server, those of all machines.
         *
         * @throws DatabaseException
         */
        public static function workers(\MailQueue $queue): int {}

        /**
         * Runs a SELECT on the queue's own connection, for reports.
         *
         * @param string $sql with ?1, ?2, … for the parameters, and in place of the names of the
         *        queue's tables {t} (jobs), {b} (bodies), {C} (mail_count), {H} (mail_log),
         *        {Z} (mail_suppression), {M} (mail_campaign), {p} (mail_recipient), {!} (mail_bounce), {c} (config);
         *        {r} is the reference column. Conditions: {%} for parked mail that failed, {>} for mail that an
         *        enqueue() of its reference and type replaces, at the time ?1
         * @param array $parameters a list of int, string and null
         * @return list<list<int|string|null>> the rows, of at most 32 columns; a number can be a string
         * @throws DatabaseException
         */
        public static function select(\MailQueue $queue, string $sql, array $parameters = []): array {}

        /**
         * The ids of jobs().
         *
         * @return list<int>
         * @throws DatabaseException
         */
        public static function jobIds(\MailQueue $queue, ?Status $status = null, int $limit = 50, int $after = 0, ?string $type = null, ?string $reference = null, ?string $recipient = null, ?string $error = null, ?string $subject = null, ?int $createdBefore = null, bool $uncertain = false, bool $expected = false, ?int $until = null, ?string $campaign = null): array {}

        /**
         * MailQueue::campaigns() for a page that is shown again and again: `pending` is all that is in the queue
         * and not parked.
         *
         * @param int $parkedMost 1 … 10000: so many parked mails are looked at, of all campaigns, the newest.
         *        isPart: there are more. Then some of those that are `gone` may be parked.
         *        expiresAt is only there of campaigns that run
         * @phpstan-return array{campaigns: list<Progress>, isPart: bool}
         */
        public static function campaigns(\MailQueue $queue, int $limit, int $before, int $parkedMost): array {}

        /**
         * Deletes rows of mail_log, in one transaction.
         *
         * @param array $ids their ids
         */
        public static function eraseHistory(\MailQueue $queue, array $ids): void {}

        /**
         * Deletes recipients of campaigns, in one transaction.
         *
         * @param array $ids their ids
         */
        public static function eraseRecipients(\MailQueue $queue, array $ids): void {}

        /**
         * Suppresses many addresses, in one transaction.
         *
         * @param array $rows a list of [address, reason, ?scope, ?source, created_at or 0]
         * @param bool $dry all is done, and undone
         * @return int how many were new
         */
        public static function suppressMany(\MailQueue $queue, array $rows, bool $dry = false): int {}

        /**
         * Deletes the bounces of an address, and the address and the source of its suppressions, which stay.
         *
         * @return int how many
         */
        public static function forgetSuppressed(\MailQueue $queue, string $address): int {}

        /**
         * The hash of an address by which suppressions and bounces are found.
         *
         * @throws MessageException for an address that cannot be one
         */
        public static function addressHash(\MailQueue $queue, string $address): int {}

        /**
         * Stores a bounce, or another event about an address, and suppresses the address if that follows, in
         * one transaction.
         *
         * @param string|null $address null: only $hash is known
         * @param int $event a number that no other event of the address has
         * @param string $kind a word for reports
         * @param int $least 1: suppress at once; 0: never; else when so many such events came in 30 days
         * @param string $reason of the suppression, as $scope and $source
         * @param int $at UTC seconds
         * @return string "counted"; "suppressed"; "known": it was stored already, or a hundred of the address were
         */
        public static function bounce(\MailQueue $queue, ?string $address, int $hash, int $event, string $kind, int $least, string $reason, ?string $scope, ?string $source, int $at): string {}

        /**
         * Connects to an SMTP relay and logs in as the worker does, then quits.
         *
         * @param string $transport "smtp://…" or "smtps://…"
         * @return string what was said and seen: for each piece a letter, its length, ":" and the
         *         text, with the secrets in it. C: we said it, S: the relay, *: libcurl, T: a field
         *         of the relay's certificate, E: why it failed
         */
        public static function probe(#[\SensitiveParameter] string $transport): string {}

        /**
         * Posts a form to an OAuth2 server, under the conditions under which the worker asks for
         * tokens: https:// only but to loopback, no redirect, an answer of at most 64 KiB in 30 s.
         *
         * @param string $fields application/x-www-form-urlencoded
         * @param string|null $clientId for HTTP Basic, with $clientSecret; null: no such header
         * @param string|null $cafile a PEM file; null: the system's
         * @param string|null $proxy as in a transport; null: none
         * @return array{code: int, body: string, retryAfter: int, failure: string} code: of HTTP; 0:
         *         no complete answer came, and failure says why
         * @throws \ValueError if the endpoint cannot be used
         */
        public static function oauthRequest(string $endpoint, #[\SensitiveParameter] string $fields, ?string $clientId = null, #[\SensitiveParameter] ?string $clientSecret = null, ?string $cafile = null, ?string $proxy = null): array {}

        /**
         * Gets a file over https://, under the conditions of oauthRequest().
         *
         * @return array{code: int, body: string, retryAfter: int, failure: string} as oauthRequest()
         * @throws \ValueError if the URL cannot be used
         */
        public static function fetch(string $url, int $timeoutMs, ?string $cafile = null, ?string $proxy = null): array {}

        /**
         * The directory of the OAuth2 accounts: $MAILQUEUE_ACCOUNTS, or else mailqueue.accounts, or
         * else the default. It may not exist.
         */
        public static function accounts(): string {}

        /**
         * Makes sure that an account has an access token, as the worker does before it logs in.
         *
         * @param string|null $refused a token that a server refused: another one is fetched
         * @throws \ValueError if the account cannot be used, with the cure
         * @throws Exception if no token can be had, with the cure
         */
        public static function oauthToken(string $account, #[\SensitiveParameter] ?string $refused = null): void {}

        /**
         * Whether a transport has a password, a key or a token in it, also as a relay of a group. If it
         * cannot be read, whether it may have one.
         */
        public static function hasSecret(#[\SensitiveParameter] string $transport): bool {}

        /**
         * The name that this host says in EHLO to the relay of a DSN.
         *
         * @throws MailQueue\Exception if the DSN cannot be read
         */
        public static function helo(#[\SensitiveParameter] string $transport): string {}

        /**
         * Records what this process's runs say to SMTP relays from now on, or stops that.
         *
         * @return string what was recorded since the last call, in the form of probe()
         */
        public static function trace(bool $on): string {}

        /**
         * What a relay's reply means, by the file of mailqueue.verdicts and the table.
         *
         * @param string $reply such as "450 4.7.1 try later"; several lines with "\n" between
         * @param string $at connect, mail, rcpt, data or dot
         * @return array{verdict: string, wait: int, throttled: bool, line: ?int, row: ?string} wait:
         *         seconds that the reply or the rule names. throttled: the relay's trouble if it comes
         *         several times in a row. line: of the rule. row: of the table, if no rule decided
         * @throws Exception if the file cannot be used
         */
        public static function verdict(string $reply, string $at, string $relay): array {}

        /**
         * The table of verdicts.
         *
         * @return list<string> "stages | codes | enhanced codes | text | verdict"
         */
        public static function verdictRows(): array {}

        /**
         * How many rules the file of mailqueue.verdicts has; 0 without one.
         *
         * @throws Exception if the file cannot be used
         */
        public static function verdictRules(): int {}

        /**
         * The least and the most of runWorker()'s numbers, by their names, and of a mail's recipients.
         *
         * @return array<string, array{int, int}>
         */
        public static function limits(): array {}

        /** What runAfterResponse() does when the script has ended. */
        public static function afterResponse(\MailQueue $queue, int $seconds, int $mails, ?callable $compose, ?callable $sign, #[\SensitiveParameter] array|\Closure|null $relays, bool $isLast): void {}

        /**
         * Whether a file has a POSIX access control list (acl(5)), whose mask stands where the group's
         * rights do otherwise.
         */
        public static function hasAcl(string $path): bool {}
    }

    /** What an application needs to queue mail: for type hints, and to be replaced in tests. */
    interface Enqueuer
    {
        public function enqueue(array|string|object|null $message = null, ?string $reference = null, string $type = 'mail', int $priority = 0, \DateTimeInterface|int|null $sendAt = null, \DateTimeInterface|int|null $expiresAt = null, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?array $recipients = null, ?array $dsn = null, ?string $relay = null, ?string $list = null): ?int;

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

    /** What to do when nobody knows whether the relay took a mail. */
    enum OnUncertain: string
    {
        /** Send again: at most one extra copy per attempt, with the same Message-ID. */
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
        private readonly int $base;
        private readonly int $max;
        private readonly float $jitter;

        /** @implementation-alias MailQueue\Job::__construct */
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
     * A campaign: one message, rendered for each of its recipients. Its mails wait in the queue, at most about
     * 1,000 at a time, and the worker sends them like all others. Made by MailQueue::campaign().
     *
     * Methods throw MailQueue\Exception if the campaign's state does not allow what they do.
     *
     * @phpstan-type Progress array{id: int, name: string, state: string, recipients: int, waiting: int, pending: int,
     *     sending: int, failed: int, held: int, sent: int, refused: int, parked: int, suppressed: int, gone: int,
     *     uncertain: int, perHour: ?int, endsAt: ?int, expiresAt: ?int, createdAt: int, startAt: ?int,
     *     startedAt: ?int, finishedAt: ?int, onFinished: ?string}
     * @strict-properties
     * @not-serializable
     */
    final class Campaign
    {
        private function __construct() {}

        /**
         * Sets the message, before the start. `subject`, `text`, `html`, the values of `headers` and the URIs of
         * `unsubscribe` are templates.
         *
         * @phpstan-param array<string, mixed> $message fields as of MailQueue::enqueue(), without `to`, `cc`, `bcc`,
         *        `date` and `message_id`
         * @param string $type kind of its mails, at most 64 octets
         * @param int $priority -100 … 100; ordinary mail has 0
         * @param int|null $maxAttempts 1 … 1000; null: as the backoff policy says
         * @param string|null $envelopeFrom as of MailQueue::enqueue(); null: the message's from
         * @param string|null $relay as of MailQueue::enqueue()
         * @param \DateTimeInterface|int|null $expiresAt recipients whose mail is not sent by then get none
         * @phpstan-param array{notify?: string|list<string>|null, ret?: string|null, envid?: string|null}|null $dsn
         *        as of MailQueue::enqueue()
         * @param string|null $list as of MailQueue::enqueue()
         * @throws MessageException names the field, the cause and the cure
         * @throws \ValueError
         */
        public function setMessage(array $message, string $type = 'campaign', int $priority = -10, ?int $maxAttempts = null, ?string $envelopeFrom = null, ?string $relay = null, \DateTimeInterface|int|null $expiresAt = null, ?array $dsn = null, ?string $list = null): void {}

        /**
         * Adds recipients, each address once: after it broke off, the same list can be added again. Stores them in
         * short transactions, so that other programs can write meanwhile.
         *
         * @phpstan-param iterable<string|array{address: string, name?: string|null,
         *     fields?: array<string, mixed>|string|null}> $recipients addresses, or arrays with what the templates
         *     use; as a text, fields are a JSON object, whose numbers stay as they are written
         * @phpstan-param (callable(int $number, string $why): mixed)|null $onRefused is called for a recipient that is
         *     refused, and the others are added; null: that is an exception
         * @return int how many were new
         * @throws MessageException for an address that cannot be, or fields that the templates lack; it names the
         *         recipient's number (from 0). Those before it are stored
         */
        public function add(iterable $recipients, ?callable $onRefused = null): int {}

        /** Starts the campaign, now or at that time. It ends when all its mails have left, failed or expired. */
        public function start(\DateTimeInterface|int|null $at = null): void {}

        /** Holds its mails; those that are being sent at the moment are finished. */
        public function pause(): void {}

        /** Goes on after pause(). */
        public function resume(): void {}

        /** Deletes its mails, for good; those that are being sent at the moment are finished. */
        public function cancel(): void {}

        /**
         * What became of its recipients.
         *
         * @phpstan-return Progress state: draft, running, paused, cancelled or finished.
         *     `waiting` have no mail in the queue yet; pending to held are in it; refused and parked (for other
         *     reasons) wait for retryFailed() or a person; gone: deleted without being sent. uncertain: attempts.
         *     perHour: how many were sent since the start; endsAt: when it will end at this rate,
         *     mailMaxPerHour and the mailLimits for all mail, at expiresAt at the latest, after which the rest gets
         *     no mail. onFinished: null, called, or begun: it may have been called
         */
        public function progress(): array {}

        /**
         * Its parked mails, by ascending id.
         *
         * @param int $limit 1 … 10000
         * @param int $after only mails with a larger id
         * @return list<Job>
         */
        public function failures(int $limit = 50, int $after = 0): array {}

        /** Tries refused and exhausted mails again, also of a finished campaign. Returns how many. */
        public function retryFailed(): int {}

        /**
         * The mail that a recipient gets, as it goes over the wire.
         *
         * @throws Exception if the address is not one of the recipients
         */
        public function preview(string $address): string {}

        /**
         * Enqueues the mail of a recipient to other addresses. They do not become recipients.
         *
         * @phpstan-param list<string> $addresses
         * @param string|null $as whose mail; null: the first recipient's
         * @return list<int> the mails' ids
         * @throws MessageException for an address that cannot be
         */
        public function test(array $addresses, ?string $as = null): array {}
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
        /** Failed attempts, and the one in progress. */
        public readonly int $attempts;
        public readonly ?int $maxAttempts;
        /** Attempts whose outcome nobody knows. */
        public readonly int $uncertain;
        /**
         * Those of $recipients that may have got it in such an attempt. Empty if there was none, or while composing
         * decides about the recipients.
         *
         * @var list<string>
         */
        public readonly array $uncertainTo;
        public readonly int $nextAttemptAt;
        public readonly ?int $expiresAt;
        public readonly ?int $lockedUntil;
        /** Claim token of the worker's run that holds it. */
        public readonly ?string $lockedBy;
        public readonly ?int $lastAttemptAt;
        public readonly ?string $lastError;
        /** "refused", "exhausted", "uncertain", "hold" or "unreadable" */
        public readonly ?string $parkedFor;
        public readonly int $createdAt;
        /** The id of the mail that this one replaced: MailQueue::resend(). */
        public readonly ?int $resentOf;
        /**
         * When a waiting mail will go, at the present limits, in the present order and within its hours, if each
         * mail before it has one recipient; not before a pause of the relay that it goes to ends, if the last run of
         * the worker tells which one that is. Which one a function for relays would name is not known before it is
         * asked: then a pause counts only for mail that a run has put back for it. null: it does not wait, sending is
         * off, 10,000 mails or more go before it, or jobs() was not asked for it.
         */
        public readonly ?int $expectedAt;
        /**
         * Why not before: "hours" (mailHours), "pause" (its relay is paused), "mailMaxPerHour", one of mailLimits as it
         * is written there, or "mailSlowdown: …" if a recipient's domain is slowed down. null: nothing of this
         * kind. Only a limit by relay or by sender is also named where $expectedAt is null.
         */
        public readonly ?string $waitsFor;
        /** With angle brackets; the same for every attempt. */
        public readonly string $messageId;
        /** Decoded, at most 255 characters; null: composed when sent. */
        public readonly ?string $subject;
        public readonly ?string $envelopeFrom;
        /**
         * Of a claimed job the recipients of this attempt, or else those still to be tried; null: composing
         * decides.
         *
         * @var list<string>|null
         */
        public readonly ?array $recipients;
        /** @var array<string, string> address → reply, of recipients that were given up */
        public readonly array $refused;
        /** A key of the map of relays; null: the sender decides. */
        public readonly ?string $relay;
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
        /** @var list<string> the names of those counts above that are estimated */
        public readonly array $estimated;
        /** When the oldest waiting mail was enqueued. */
        public readonly ?int $oldestWaitingSince;
        public readonly ?int $nextDueAt;
        public readonly bool $enabled;
        /** Recipients an hour; 0: no limit. */
        public readonly int $limit;
        public readonly int $burst;
        /** Tokens of the hourly limit that mail of a priority below 0 leaves to other mail (mailReserve). */
        public readonly int $reserve;
        /** "average" or "strict" */
        public readonly string $rateMode;
        /** Recipients that the hourly limit lets go now; null without a limit. */
        public readonly ?float $tokens;
        /** When it lets the next one go, if none is left. */
        public readonly ?int $nextTokenAt;
        /**
         * The limits of mailLimits. One by relay, sender or recipient domain has many counts, so $left is null.
         *
         * @var list<array{limit: string, left: ?int, fullUntil: ?int}>
         */
        public readonly array $limits;
        /** Seconds until all waiting mail is sent at the present limits; null without one for all mail. */
        public readonly ?int $emptyIn;
        public readonly ?int $lastRunAt;
        /** Until when the relay is paused. */
        public readonly ?int $pausedUntil;
        public readonly ?string $pauseReason;
        /** The relay that is paused, or the one whose pause ends last; without a password. */
        public readonly ?string $pausedRelay;
        /** Test mode: the address, or "@domain", that replaces recipients now; null: off. */
        public readonly ?string $redirectTo;
        /**
         * Mail that waits for its sending hours (mailHours): the types, and when their hours begin.
         *
         * @var array<string, int>
         */
        public readonly array $closed;

        /** @implementation-alias MailQueue\Job::__construct */
        private function __construct() {}
    }

    /**
     * What a worker's run did, in numbers of jobs unless a name says otherwise.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Report
    {
        /** Why it ended: "empty", "tokens", "time", "messages", "signal", "relay", "locked" or "disabled" */
        public readonly string $end;
        /** The relay's trouble in words; if a limit of mailLimits ended it, that limit. */
        public readonly ?string $reason;
        /** When a new run can do more, if the relay or the limit ended this one. */
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
        /** Of which recipients were suppressed. */
        public readonly int $suppressed;
        public readonly int $stale;
        public readonly int $released;
        public readonly int $recovered;
        /** Uncertain because they were cut off when a signal's grace period ended. */
        public readonly int $cutOff;
        public readonly float $seconds;

        /** @implementation-alias MailQueue\Job::__construct */
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
         * With "busy", "readonly", "cantopen", "corrupt" and "schema" nothing was stored. With "io", "full",
         * "replaced" and "database" the mail may be stored, if the failure came with or after the commit:
         * then the text says so. A `reference` keeps a second attempt from storing the mail twice.
         */
        public readonly string $reason;

        /** For objects that replace a queue in an application's tests. */
        public function __construct(string $message = '', int $code = 0, ?\Throwable $previous = null, string $reason = 'database') {}
    }

    /** A message cannot be sent as it is; nothing was stored. */
    class MessageException extends Exception
    {
        /** The field at fault: "to", "to[3]", "attachments[0]", "headers[X-Name]", "message", … */
        public readonly string $field;

        /**
         * For objects that replace a queue in an application's tests.
         *
         * @implementation-alias MailQueue\DatabaseException::__construct
         */
        public function __construct(string $message = '', int $code = 0, ?\Throwable $previous = null, string $field = 'message') {}
    }

    /** Thrown by a transport Closure: the relay is in trouble, so no attempt is counted. */
    class TransportException extends Exception
    {
    }

    /** Thrown by a transport Closure: this mail is refused for good. */
    class RefusedException extends Exception
    {
    }
}
