<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** What --help prints. */
final class Help
{
    /** Printed after the options of a command, and in mailqueue(1). */
    public const MORE = [
        'work' => <<<'TEXT'
            A crontab:
              MAILQUEUE_DATABASE=/home/me/data/app.sqlite
              MAILQUEUE_TRANSPORT=smtp://user:password@mail.example.org:587
              * * * * *  mailqueue work --quiet

            Before the first mail is queued, the database has no queue yet, and work exits
            0. With --table, --config-table or --daemon a missing queue is an error, because
            a mistyped name would never find any mail. mailqueue migrate creates it.

            The environment can select the exponential backoff (30 s, doubling to 3600 s,
            ± 20 %, parked after 5 attempts): with DISPATCH_BACKOFF_BASE_SECONDS,
            DISPATCH_BACKOFF_MAX_SECONDS (both also without _SECONDS),
            DISPATCH_BACKOFF_JITTER (0 … 1) or DISPATCH_MAX_ATTEMPTS. DISPATCH_BATCH,
            DISPATCH_CONNECTIONS and DISPATCH_LEASE are defaults for the options of these
            names.
            TEXT,
        'sendmail' => <<<'TEXT'
            mailqueue's options come first: --timeout, --json and those that name the queue
            (--database, --table, --config-table, --reference-column). Then come sendmail's,
            up to the first recipient:
              -t          also send to To, Cc and Bcc of the message (or Resent-To …); Bcc
                          is removed
              -i, -oi     a line with a lone dot does not end the message
              -f, -r ADDR the envelope's sender ("" for none); else the message's
                          Resent-Sender, Resent-From, Sender or From, or else USER@HOST
              -F NAME     the name in the From that is added if the message has none
              -bm         take a message (the default)
              -bs         SMTP on standard input and output, its lines ended by CRLF;
                          the client is trusted
              -bp         list the queue, as mailq does
              -q          run the queue once, as mailqueue work --quiet does
              -N WHEN     which delivery reports are wanted (RFC 3461): never, or any of
                          success, failure and delay, separated by commas
              -R WHAT     what a bounce returns of the mail: full or hdrs
              -V NAME     your name for the mail in such reports. -N, -R and -V are passed
                          on to relays (smtp://, smtps://) that offer DSN, and to Postfix's
                          sendmail. -bs does not offer it
              --          only recipients follow
            Ignored: -A -B -C -G -L -O -U -X FILE -c -e -h -m -n -o… -p -v -x. Also ignored,
            because there is neither a daemon nor an alias database: -bh -bH -bi -I
            -qINTERVAL. Refused: -XV (a sender for each recipient).

            Recipients without a domain, such as root in cron's MAILTO=root, get this host's
            name, or what the aliases file says (MAILQUEUE_ALIASES, ini mailqueue.aliases).
            It has the form of /etc/aliases, with addresses and other names only:
              root: admin@example.org
              default: admin@example.org     (users without a line)

            Exit 0 means that the mail is in the queue, durably. 64 usage, 65 the message
            cannot be sent as it is, 66 no input, 67 a recipient's address is bad, 75 try
            again later.

            The user must be allowed to write the database. Under the name sendmail or mailq
            (a link), the command takes none of mailqueue's options, and the database comes
            from the environment or php.ini. For PHP's mail(), in php.ini:
              sendmail_path = "/usr/bin/mailqueue sendmail --database=/path/a.db -t -i"
            If PHP loads many extensions, this is faster, because it reads no php.ini:
              sendmail_path = "php -n -d extension=mailqueue /usr/bin/mailqueue …"
            TEXT,
        'suppress' => <<<'TEXT'
            The CSV file (RFC 4180) has the columns address, scope, reason, source and
            created_at, in any order, named in its first line; all but the address can be
            missing. Without such a line it has one column, the addresses. import leaves
            what is there as it is.
            TEXT,
        'campaign' => <<<'TEXT'
            The actions:
              create NAME FILE      sets the message, from a JSON file with the fields of
                                    enqueue(); until the start also another one
              add NAME FILE         adds recipients; those that are there are left out, so
                                    after an interruption add the same file again
              start NAME            starts it, now or --at a time
              pause, resume NAME    holds its mails, and lets them go on
              cancel NAME           deletes its mails, for good
              status [NAME]         says what became of it, or of all campaigns
              failures NAME         lists mails that were refused or given up
              retry NAME            tries refused mails again, and those without attempts
              preview NAME ADDRESS  prints the mail that a recipient gets
              test NAME ADDRESS…    sends a recipient's mail to other addresses

            The file of add is CSV, and its first line names the columns: address, name,
            and the fields of the message. Or it has a JSON object in each line:
              {"address": "ann@example.net", "name": "Ann", "fields": {"points": 120}}
            FILE can be -, standard input.
            TEXT,
        'adopt' => <<<'TEXT'
            Stop the old program first. TABLE is mail_queue (or what --table names) with at
            least a reference, mail_type and status; or email_queues or mail_outbox, with a
            complete message and a status. Without TABLE, adopt takes the one that exists.

            The old table is kept as TABLE_before, and on SQLite also a copy of the file.
            Mails keep their ids and your own columns; times become UTC seconds. A mail that
            is being sent counts as one that may have arrived. Mails that were sent, and
            those that only their own program can read (serialized PHP), stay in the old
            table. If a row cannot be taken as it is, the error names it and nothing is
            changed.

            A complete message goes to the recipients of its row (to, cc, bcc). If the row
            names none, it goes to those of its headers.

            It is one transaction; on MariaDB and MySQL it is two steps. If it is killed
            between them, run it again, or use --undo. Views and foreign keys that do not
            work with the new table, and triggers and rules of other tables that name it,
            are listed; nothing is changed without --drop-them.
            TEXT,
        'migrate-store' => <<<'TEXT'
            FROM and TO are paths of SQLite files or DSNs. If TO is a file that does not
            exist, it is created. TO must have no mail of its own. --table and the options
            for other names apply to both databases.

            While it runs, neither database sends, and both take new mail. It waits for
            mails that are being sent. Mails keep their ids; new ids in TO begin at least a
            million higher. At the end it compares all rows and bodies of both databases.
            Then only TO sends. FROM keeps its rows as a backup (unless --delete) and never
            sends again: the move record mailQueueMovedTo in its config table forbids it.
            The commands status and doctor show the move.

            If it was interrupted, run the same command: it continues. When the application
            stores its mail in TO, run it once more: it moves what FROM has taken since.

            Settings, campaigns, bounces, and suppressions with their key go with the mail.
            TO must have no campaigns of its own. Its own suppressions stay. Other keys of
            the config table do not go, nor do columns that are not the queue's. Workers
            older than this version do not know the move record: update all of them first.

            Exit codes: 0 done, 64 usage, 73 a file cannot be created or read, 75 mail is
            still being sent or a database is busy: run it again, 78 it cannot be moved.
            TEXT,
    ];

    private const EXIT_CODES = <<<'TEXT'
        Exit codes: 0 done, 1 doctor found a fault, the mail was not found or (log) was
        not sent, 64 usage, 65 message cannot be sent as it is, 66 no input,
        67 bad recipient, 69 relay cannot be used now, 73 file cannot be created or
        read, 74 output cannot be written, 75 try again later (also: the database
        server is away), 77 no permission, 78 configuration (also: the database server
        refuses user, password or DSN, or PHP's extension for it is missing).

        TEXT;

    public static function of(?string $command): string
    {
        if ($command === null) {
            $out = "Usage: mailqueue COMMAND [options]\n\nCommands:\n";
            foreach (Commands::ALL as $name => $about) {
                $out .= self::entry(trim("$name {$about['args']}"), $about['text'], 22);
            }
            return "$out\nOptions of every command:\n" . self::options(Commands::GLOBAL)
                . self::examples(['mailqueue status --database /home/me/data/app.sqlite',
                    'mailqueue list --help']) . "\n" . self::EXIT_CODES;
        }
        $about = Commands::ALL[$command];
        $usage = trim("mailqueue $command [options] {$about['args']}");
        $text = wordwrap($about['text'], 79);
        $out = "Usage: $usage\n\n$text\n";
        if ($about['options']) {
            $out .= "\nOptions:\n" . self::options($about['options']);
        }
        return $out . self::examples($about['examples'])
            . (isset(self::MORE[$command]) ? "\n" . self::MORE[$command] . "\n" : '')
            . "\nmailqueue --help: the options of every command, such as --database.\n";
    }

    /** @param list<string> $lines */
    private static function examples(array $lines): string
    {
        return "\nExamples:\n  " . implode("\n  ", $lines) . "\n";
    }

    /** @param array<string, string> $options */
    private static function options(array $options): string
    {
        $out = '';
        foreach ($options as $option => $text) {
            $out .= self::entry("--$option", $text, 27);
        }
        return $out;
    }

    /** Formats an entry in two columns, at most 80 characters wide. */
    private static function entry(string $name, string $text, int $width): string
    {
        $lines = explode("\n", wordwrap($text, 76 - $width));
        $name .= str_repeat(' ', max(0, $width - Terminal::width($name)));
        return "  $name " . implode("\n" . str_repeat(' ', $width + 3), $lines) . "\n";
    }
}
