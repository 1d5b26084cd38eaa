<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** The commands, with their arguments and options: the parser and Help read this table. */
final class Commands
{
    /** @var array<string, string> option → what it means; "=": takes a value */
    public const GLOBAL = [
        'database=PATH|DSN' => 'the SQLite file, or pgsql:host=…;dbname=… or mysql:… for a server '
            . '(default: $MAILQUEUE_DATABASE, or else ini mailqueue.database); user and password: '
            . '$MAILQUEUE_DATABASE_USER, $MAILQUEUE_DATABASE_PASSWORD_FILE (a file of mode 0600) '
            . 'or $MAILQUEUE_DATABASE_PASSWORD, for PostgreSQL also ~/.pgpass',
        'table=NAME' => "the queue's table (default mail_queue)",
        'config-table=NAME' => 'the key/value table for settings (default config)',
        'reference-column=NAME' => 'the column for references (default reference)',
        'orphan-check=TABLE.COLUMN' => 'delete waiting mail whose reference is not found there',
        'backoff=POLICY' => 'when failed mail is tried again: steps[:ATTEMPTS], '
            . 'fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], '
            . 'such as fixed:15,50 (default steps: after 1, 5 and 15 minutes, then hourly)',
        'bootstrap=FILE' => "a PHP file that returns ['queue' => …, 'compose' => …, "
            . "'transport' => …, 'relays' => …, 'sign' => …, 'dkim' => …, 'onEvent' => …, "
            . "'onFinished' => …]; each is optional",
        'json' => 'print JSON; errors too, as one line {"error": …, "exit": …} on standard error',
        'help' => 'print this',
        'version' => 'print the version',
    ];

    private const TRANSPORT = 'where mail goes: smtp://host:587, smtps://…, lmtp:///socket, '
        . 'sendmail://default, file:///directory, null://null, ses+https://… and other mail APIs, '
        . 'or several as failover(DSN DSN) (default: $MAILQUEUE_TRANSPORT, '
        . "or else ini mailqueue.transport, or else sendmail://default: php.ini's sendmail_path); "
        . 'no password here: other users can read arguments';
    private const ACCOUNTS = 'the directory of OAuth2 accounts (default: $MAILQUEUE_ACCOUNTS, or '
        . 'else ini mailqueue.accounts, or else accounts in the run directory)';
    private const RELAYS = "a PHP file that returns which relay gets a mail: ['a@example.org' => "
        . "DSN, '@example.org' => DSN, 'default' => DSN] (default: \$MAILQUEUE_RELAYS)";
    private const DKIM = 'sign with this private key; repeat the option for each key '
        . '(default: $MAILQUEUE_DKIM, or else ini mailqueue.dkim, several separated by commas)';
    private const VERDICTS = 'a file with rules for what replies of relays mean, before the '
        . 'built-in ones (default: $MAILQUEUE_VERDICTS, or else ini mailqueue.verdicts)';

    /** Which mails a command is about (Filter). */
    private const FILTER = [
        'status=STATUS' => 'only mail that is pending, sending, failed, parked or held',
        'type=TYPE' => 'only mail of this type',
        'reference=REFERENCE' => 'only mail with this reference',
        'recipient=TEXT' => 'only mail to an address with this text in it',
        'error=TEXT' => 'only mail whose last error has this text in it',
        'subject=TEXT' => 'only mail whose subject has this text in it',
        'campaign=NAME' => 'only mail of this campaign',
        'older=AGE' => 'only mail that was enqueued before 90m, 12h or 7d, or before a time such '
            . 'as 2026-11-21 (UTC)',
    ];
    private const BULK = self::FILTER + [
        'yes' => 'change what the filter finds without asking',
    ];

    private const WORK = [
        'transport=DSN' => self::TRANSPORT,
        'relays=FILE' => self::RELAYS,
        'dkim=DOMAIN:SELECTOR:FILE' => self::DKIM,
        'verdicts=FILE' => self::VERDICTS,
        'accounts=DIR' => self::ACCOUNTS,
        'time-limit=SECONDS' => 'claim nothing more after this long (default 55)',
        'message-limit=N' => 'send at most N mails',
        'connections=N' => 'at most N sessions (default 10)',
        'batch=N' => 'mails per claim (default 100)',
        'max-bytes=N' => 'bytes of messages in memory (default 64M); a larger one is sent alone',
        'lease=SECONDS' => 'how long a claim holds before it can be taken back (default 900)',
        'workers=N' => 'how many may run at a time, on all machines (default 1, or --processes)',
        'processes=N' => 'run N workers side by side, 1 to 10 (default 1)',
        'grace=SECONDS' => 'how long mails that are being sent have after SIGTERM (default 30)',
        'on-uncertain=retry|hold' => 'if nobody knows whether the relay took it (default retry)',
        'verbose' => 'log what is sent with its subject',
        'log=FILE' => 'the JSON-lines log (default: $MAIL_QUEUE_LOG, or else ini mailqueue.log, '
            . 'or else $HOME/logs/mail-queue.log, or else beside the database); /dev/stdout and '
            . '/dev/stderr are the streams of this process',
        'daemon' => 'wait for more mail instead of ending; without --time-limit until SIGTERM',
        'quiet' => 'for cron, which mails every line: print only what needs a person '
            . '(errors, parked mail, and trouble of the relay each time that it was tried)',
    ];

    /** Options that sendmail refuses, because its words may come from strangers. */
    public const NOT_SENDMAIL = ['bootstrap', 'orphan-check', 'backoff'];

    /**
     * "words": how many arguments a command takes at most; "actions": what the first one can be.
     * @var array<string, array{args: string, words: int, text: string, actions?: list<string>,
     *      examples: list<string>, options: array<string, string>}>
     */
    public const ALL = [
        'work' => [
            'args' => '',
            'words' => 0,
            'text' => 'Send what is due, within the limits. A second start exits 0 at once.',
            'examples' => [
                'mailqueue work --transport smtp://mail.example.org:587 --message-limit 10',
                'mailqueue work --quiet --time-limit 50',
            ],
            'options' => self::WORK,
        ],
        'status' => [
            'args' => '',
            'words' => 0,
            'text' => 'Show how many mails have each status, the oldest waiting mail, what the '
                . 'limits allow, when the queue will be empty, and what keeps mail back.',
            'examples' => [
                'mailqueue status',
                'mailqueue status --database /home/me/data/app.sqlite --json',
            ],
            'options' => [],
        ],
        'health' => [
            'args' => '',
            'words' => 0,
            'text' => 'Print one line for a monitoring program, and exit 1 if something is wrong: '
                . 'sending is off, mail is due but no worker runs, mail has been due for too long, '
                . 'or a relay is paused.',
            'examples' => [
                'mailqueue health',
                'mailqueue health --max-age 30m --max-parked 10',
            ],
            'options' => [
                'max-age=SPAN' => 'how long mail may be due: 90s, 15m, 12h or 7d (default 1h)',
                'max-silence=SPAN' => 'how long no worker may have run while mail is due '
                    . '(default 10m)',
                'max-parked=N' => 'how many mails may be parked (default: any number)',
            ],
        ],
        'stats' => [
            'args' => '',
            'words' => 0,
            'text' => 'Show what happened to mail by hour, day, type or relay, and how long it '
                . 'waited: half of it at most p50, nearly all (95 %) at most p95.',
            'examples' => [
                'mailqueue stats',
                'mailqueue stats --by type --since 30d',
            ],
            'options' => [
                'by=hour|day|type|relay' => 'what a line is about (default hour)',
                'since=SPAN' => 'how far to look back: 90m, 12h or 7d (default 24h; by day 30d, '
                    . 'by type or relay 7d)',
            ],
        ],
        'metrics' => [
            'args' => '',
            'words' => 0,
            'text' => "Print the queue's figures in Prometheus' text format, for node_exporter's "
                . 'textfile collector.',
            'examples' => ['mailqueue metrics'],
            'options' => [],
        ],
        'list' => [
            'args' => '',
            'words' => 0,
            'text' => 'List mails in the order of their ids.',
            'examples' => [
                'mailqueue list --status parked',
                'mailqueue list --recipient @example.com --older 7d',
                'mailqueue list --limit 10 --after 4711',
            ],
            'options' => self::FILTER + [
                'limit=N' => 'at most N (default 50); above 100, the column "next" has the next '
                    . 'attempt, not when the mail is expected to go',
                'after=ID' => 'only higher ids',
            ],
        ],
        'show' => [
            'args' => 'ID',
            'words' => 1,
            'text' => 'Show one mail. Exit 1 when there is none with this id.',
            'examples' => ['mailqueue show 4711', 'mailqueue show 4711 --message | less'],
            'options' => ['message' => 'with the message itself'],
        ],
        'log' => [
            'args' => '',
            'words' => 0,
            'text' => 'Show what the workers logged about mail: was it sent? Exit 1 if it was not, '
                . 'or if that is not known.',
            'examples' => [
                'mailqueue log --reference 4711',
                'mailqueue log --id 17 --json',
                'mailqueue log --since "2 hours ago"',
            ],
            'options' => [
                'reference=REFERENCE' => 'only about mail with this reference',
                'id=ID' => 'only about this mail',
                'since=TIME' => 'only since then, such as 2026-11-21 or "2 hours ago" (UTC)',
                'limit=N' => 'show the last N lines (default 50)',
                'log=FILE' => 'the log, as for work; its rotated files (logrotate) are read too',
            ],
        ],
        'retry' => [
            'args' => '[ID…]',
            'words' => PHP_INT_MAX,
            'text' => 'Bring failed mail back. Without ids: all mail that waits for its next '
                . 'attempt, was refused, or failed too often; says how many, and asks. Exit 1 if '
                . 'no mail of the ids can be brought back.',
            'examples' => [
                'mailqueue retry',
                'mailqueue retry --once 4711 4712',
                "mailqueue retry --error 'mailbox full' --yes",
            ],
            'options' => self::FILTER + [
                'yes' => 'do not ask: bring back all, or what the filter finds',
                'all' => 'without ids: also mail that was put on hold, or parked as uncertain, and '
                    . 'so may arrive twice',
                'once' => 'one more attempt only',
            ],
        ],
        'resend' => [
            'args' => 'ID',
            'words' => 1,
            'text' => 'Send a mail again as a new one, in the place of the old one, perhaps to '
                . 'another address: the one that was refused, or the only one that is left, is '
                . 'replaced, also in To and Cc. Exit 1 if that cannot be done.',
            'examples' => [
                'mailqueue resend 4711 --to ann@example.org',
                'mailqueue resend 4711 --instead an@example.org --to ann@example.org',
                'mailqueue resend 4711',
            ],
            'options' => [
                'to=ADDRESS' => 'the right address',
                'instead=ADDRESS' => 'the recipient that it replaces, where several could be meant',
            ],
        ],
        'uncertain' => [
            'args' => '[ID…]',
            'words' => PHP_INT_MAX,
            'text' => 'List mail that may have arrived: it was sent, but the reply of the relay '
                . 'was never read. With an option, decide about those of the ids or the filter, '
                . 'or about all. Exit 1 if none of the ids is such a mail.',
            'examples' => [
                'mailqueue uncertain',
                'mailqueue uncertain --sent 4711 4712',
                'mailqueue uncertain --send-again --type invoice --yes',
            ],
            'options' => [
                'send-again' => 'send them again: those that have arrived arrive twice',
                'sent' => 'count them as sent: they leave the queue',
            ] + self::BULK,
        ],
        'hold' => [
            'args' => '[ID…]',
            'words' => PHP_INT_MAX,
            'text' => 'Park waiting mail, by its ids or by a filter, until it is retried by hand. '
                . 'Exit 1 if none was waiting.',
            'examples' => ['mailqueue hold 4711 4712', 'mailqueue hold --type newsletter --yes'],
            'options' => self::BULK,
        ],
        'delete' => [
            'args' => '[ID…]',
            'words' => PHP_INT_MAX,
            'text' => 'Delete mail that is not being sent, by its ids or by a filter. Exit 1 if '
                . 'none was deleted.',
            'examples' => [
                'mailqueue delete 4711',
                'mailqueue delete --status parked --older 30d --yes',
            ],
            'options' => self::BULK,
        ],
        'forget' => [
            'args' => 'ADDRESS',
            'words' => 1,
            'text' => 'Erase what the queue knows of an address: mails from or to it, and their '
                . 'rows in the history. --json prints what there was. Exit 1 if something stays: '
                . 'a mail that is for others too, or one that is being sent.',
            'examples' => [
                'mailqueue forget --dry-run --json name@example.org > name.json',
                'mailqueue forget --yes name@example.org',
            ],
            'options' => [
                'dry-run' => 'say what would be erased, change nothing',
                'yes' => 'erase without asking',
                'timeout=SECONDS' => 'how long to wait for a mail that is being sent (default 60)',
            ],
        ],
        'suppress' => Command\Suppress::ABOUT,
        'campaign' => Command\Campaign::ABOUT,
        'bounce' => Command\Bounce::ABOUT,
        'bounces' => Command\Bounces::ABOUT,
        'config' => [
            'args' => '[KEY [VALUE]]',
            'words' => 2,
            'text' => 'Show the settings in the database, or one, or set one.',
            'examples' => [
                'mailqueue config',
                'mailqueue config mailMaxPerHour 60',
                "mailqueue config mailLimits '60/1h, 200/4h, 500/1d'",
                'mailqueue config mailRedirectTo test@example.org',
                'mailqueue config --unset mailRedirectTo',
            ],
            'options' => ['unset' => 'remove KEY, so that its default applies'],
        ],
        'page' => [
            'args' => '',
            'words' => 0,
            'text' => 'Print the PHP file that shows the queue in a browser, for a directory of '
                . 'the web server. It is closed until it has a password or a login.',
            'examples' => [
                'mailqueue page > mailqueue.php',
                'mailqueue page --password < password.txt',
            ],
            'options' => [
                'password' => 'read a password, and print its hash for $MAILQUEUE_PAGE_HASH, or '
                    . 'else ini mailqueue.page_hash',
                'serve=ADDRESS:PORT' => "show the page on this machine, by PHP's own server",
            ],
        ],
        'send' => [
            'args' => '',
            'words' => 0,
            'text' => 'Send one mail now, not through the queue, and print what was said with the '
                . 'relay. It counts for the hourly limit, and test mode redirects it. Exit 1 if it '
                . 'was not sent, 69 if the relay cannot be used.',
            'examples' => [
                'mailqueue send --test me@example.org',
                'mailqueue send --test me@example.org --from shop@example.org',
            ],
            'options' => [
                'test=ADDRESS' => 'where the mail goes',
                'from=ADDRESS' => "its sender (default: the transport's user if that is an "
                    . 'address, or else USER@HOST)',
                'transport=DSN' => self::TRANSPORT,
                'relays=FILE' => self::RELAYS,
                'dkim=DOMAIN:SELECTOR:FILE' => self::DKIM,
                'verdicts=FILE' => self::VERDICTS,
                'accounts=DIR' => self::ACCOUNTS,
            ],
        ],
        'sendmail' => [
            'args' => '[RECIPIENT…]',
            'words' => PHP_INT_MAX,
            'text' => 'Queue the message on standard input: a drop-in for /usr/sbin/sendmail.',
            'examples' => [
                'mailqueue sendmail -t -i < message.eml',
                "echo 'Hi' | mailqueue sendmail -f me@example.org you@example.org",
            ],
            'options' => [
                'timeout=SECONDS' => 'for -bs: how long a client may be silent (default 300)',
            ],
        ],
        'mailq' => [
            'args' => '',
            'words' => 0,
            'text' => 'List the queue in the form of mailq.',
            'examples' => [
                'mailqueue mailq',
            ],
            'options' => [],
        ],
        'login' => [
            'args' => 'PROVIDER',
            'words' => 1,
            'text' => 'Log in to a provider of mail (microsoft, google or generic), once, so that '
                . 'the worker gets access tokens (OAuth2), and store them as an account. A code is '
                . 'entered in any browser, or a browser on this machine comes back by itself.',
            'examples' => [
                'mailqueue login microsoft --account main --client-id ID --tenant ID',
                'mailqueue login google --account main --client-id ID --secret',
                'mailqueue login microsoft --account main',
            ],
            'options' => [
                'account=NAME' => 'what the transport calls it: …?auth=oauth2&account=NAME; '
                    . 'logging in again needs no more than that',
                'client-id=ID' => 'of the application that is registered with the provider',
                'secret' => 'ask for its client secret, or read it from standard input '
                    . '(or set $MAILQUEUE_CLIENT_SECRET)',
                'tenant=ID' => "Microsoft's: the directory (default organizations)",
                'scope=SCOPES' => "what is asked for, separated by blanks (default: the provider's "
                    . 'for SMTP)',
                'browser' => 'do not ask for a code to enter, but listen on a loopback address',
                'port=N' => 'listen there (default: any port)',
                'client-credentials' => 'no person logs in: the application has permissions of its '
                    . 'own, and a secret or a certificate',
                'certificate=FILE' => 'for --client-credentials: a PEM file of mode 0600 with the '
                    . 'private key and the certificate',
                'token-endpoint=URL' => 'for generic: where tokens are asked for',
                'authorization-endpoint=URL' => 'for generic: the page of the login',
                'device-endpoint=URL' => 'for generic: where codes to enter are asked for',
                'revocation-endpoint=URL' => 'for generic: where logout revokes tokens',
                'client-auth=basic|post' => 'for generic: how the secret is sent (default basic)',
                'cafile=FILE' => 'PEM file of certificates that are trusted instead of the '
                    . "system's",
                'proxy=URL' => 'ask through this proxy, written as in a transport',
                'accounts=DIR' => self::ACCOUNTS,
            ],
        ],
        'logout' => [
            'args' => 'NAME',
            'words' => 1,
            'text' => 'Forget an account, and revoke its tokens if the provider allows that.',
            'examples' => [
                'mailqueue logout main',
            ],
            'options' => [
                'yes' => 'without asking',
                'accounts=DIR' => self::ACCOUNTS,
            ],
        ],
        'accounts' => [
            'args' => '',
            'words' => 0,
            'text' => 'List the OAuth2 accounts, until when their tokens are valid, and what is '
                . 'wrong with them. Never shows a token.',
            'examples' => ['mailqueue accounts'],
            'options' => ['accounts=DIR' => self::ACCOUNTS],
        ],
        'migrate' => [
            'args' => '',
            'words' => 0,
            'text' => 'Create the database where it is missing; create or update the tables.',
            'examples' => [
                'mailqueue migrate --database /home/me/data/app.sqlite',
            ],
            'options' => [],
        ],
        'adopt' => [
            'args' => '[TABLE]',
            'words' => 1,
            'text' => "Make another program's mail table the queue's, with its mails.",
            'examples' => [
                'mailqueue adopt --dry-run --reference-column registration_number',
                'mailqueue adopt email_queues',
                'mailqueue adopt --undo',
            ],
            'options' => [
                'dry-run' => 'say what would be done, change nothing',
                'drop-them' => "drop views and foreign keys that do not work with the queue's "
                    . 'table, and triggers and rules of other tables that name it',
                'undo' => 'give the old table back, if no mail was stored or sent since',
            ],
        ],
        'migrate-store' => [
            'args' => 'FROM TO',
            'words' => 2,
            'text' => 'Move the queue into another database: SQLite, PostgreSQL, MySQL.',
            'examples' => [
                "mailqueue migrate-store --dry-run app.sqlite 'pgsql:host=db;dbname=app'",
                "mailqueue migrate-store app.sqlite 'pgsql:host=db;dbname=app'",
            ],
            'options' => [
                'timeout=SECONDS' => 'how long to wait for mail that is being sent (default 960)',
                'delete' => 'at the end, delete from FROM what was copied',
                'dry-run' => 'say what would be moved, change nothing',
                'abort' => 'cancel an unfinished move: delete the copies from TO and let '
                    . 'FROM send again',
            ],
        ],
        'verdict' => [
            'args' => 'REPLY',
            'words' => 1,
            'text' => "Say what a relay's reply means, and which rule decides: of the file of "
                . '--verdicts, or of the table in docs/transports.md.',
            'examples' => [
                "mailqueue verdict '450 4.7.1 try again in 30 seconds'",
                "mailqueue verdict '554 5.7.1 blocked' --at connect --relay smtp.example.org",
            ],
            'options' => [
                'at=STAGE' => 'what it answers: connect (to the login), mail, rcpt (default), data '
                    . 'or dot',
                'relay=HOST' => "the relay's host, which rules name (default: the transport's)",
                'transport=DSN' => 'where mail goes, as for work',
                'verdicts=FILE' => self::VERDICTS,
            ],
        ],
        'doctor' => [
            'args' => '',
            'words' => 0,
            'text' => 'Find what could go wrong, and name the cure. Exit 1 if something was found.',
            'examples' => [
                'mailqueue doctor',
                'mailqueue doctor --transport smtp://mail.example.org:587',
                'mailqueue doctor --relay',
                'mailqueue doctor --dns --from shop@example.org',
            ],
            'options' => [
                'relay' => 'instead, connect to the relay as the worker does, up to the login, and '
                    . 'say how each step went; no mail is sent',
                'dns' => "instead (or with --relay), look at SPF, DKIM and DMARC of the sender's "
                    . 'domain',
                'from=ADDRESS' => "for --dns: the sender (default: the transport's user if that is "
                    . 'an address, or else USER@HOST)',
                'selector=NAME' => 'for --dns: the selector of the DKIM key of a relay that signs',
                'transport=DSN' => 'where mail goes, as for work',
                'relays=FILE' => 'which relay gets a mail, as for work',
                'dkim=DOMAIN:SELECTOR:FILE' => 'the keys, as for work',
                'verdicts=FILE' => self::VERDICTS,
                'accounts=DIR' => 'OAuth2 accounts, as for work',
            ],
        ],
    ];
}
