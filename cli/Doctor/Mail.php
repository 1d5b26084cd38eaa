<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue;
use MailQueue\Cli\Failure;
use MailQueue\Cli\FileAccess;
use MailQueue\Cli\Named;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Relay\Group;
use MailQueue\Cli\Relay\Map;
use MailQueue\Cli\Relay\Target;
use MailQueue\Cli\Sendmail\Aliases;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

use const MailQueue\Cli\PROGRAM;

/** Checks of what a mail needs: transport, DKIM keys, capture of mail(), aliases. */
final class Mail extends Check
{
    public function __construct(
        Findings $findings,
        private readonly Settings $settings,
    ) {
        parent::__construct($findings);
    }

    /** @param string|\Closure|null $transport as it was given; the relays of the map come behind */
    public function relays(string|\Closure|null $transport): void
    {
        try {
            $relays = $this->settings->relays();
            array_map($this->transport(...), Map::transports($transport, $relays));
            $relays instanceof \Closure
                && $this->add(true, 'the bootstrap file says which relay gets a mail', '');
            is_array($relays) && $this->readable($relays);
        } catch (Stop $e) {
            $this->add(false, $e->getMessage(), 'mailqueue work refuses this. Correct the file.');
        }
    }

    /**
     * Warns if every user of this host can read the passwords.
     *
     * @param array<string, string> $relays
     */
    private function readable(array $relays): void
    {
        $file = (string) $this->settings->relaysFile();
        $isSecret = preg_grep('~://[^@/\s]*:[^@/\s]+@~', $relays) !== [];
        $isSecret && ((int) @fileperms($file) & 0o004) !== 0 && $this->add(
            false,
            "relays file $file has passwords in it, and every user of this host may read it",
            'To stop that:',
            'chmod 600 ' . Terminal::word($file)
        );
    }

    /** @param string|\Closure|null $transport as it was given */
    private function transport(string|\Closure|null $transport): void
    {
        if ($transport instanceof \Closure) {
            $this->add(true, 'mail goes through the function of the bootstrap file', '');
            return;
        }
        [$shown, $why] = $this->check($transport ?? 'sendmail://default');
        if ($transport === null || preg_match('~\Asendmail://~i', $transport)) {
            $given = preg_match('/[?&]command=([^&]*)/', (string) $transport, $match);
            $command = $given ? rawurldecode($match[1]) : (string) ini_get('sendmail_path');
            $name = $given ? 'the transport\'s command' : 'php.ini\'s sendmail_path';
            $name = $transport === null ? "no transport is set: $name" : $name;
            if (!$this->program($command, $name) || $why === null) {
                return;
            }
        }
        $this->add($why === null, $why ?? "mail goes to $shown", match (true) {
            str_starts_with((string) $why, 'the lease ')
                => 'mailqueue work refuses this: raise the lease with DISPATCH_LEASE or --lease.',
            str_contains((string) $why, 'cannot be used: account')
                => 'Until then no mail goes. mailqueue accounts lists the accounts.',
            default => 'Write it as smtp://user:password@host:587, smtps://…, lmtp:///socket, '
            . 'sendmail://default, file:///directory or null://null, a mail API as ses+https://…, '
            . 'or several as failover(smtp://a smtp://b), with : / @ ? # in user and password '
            . 'percent-encoded (%3A %2F %40 %3F %23).',
        });
        $isSecret = str_contains((string) $shown, '***');
        foreach ($why === null ? Group::relays((string) $transport) : [] as $relay) {
            $account = Target::accountOf($relay);
            $account === null && !$isSecret
                || $this->secrecy($relay, $account === null ? 'password' : 'access token');
            $account === null || $this->account(new Account($account), $relay);
        }
    }

    /** When an access token has ended, the worker fetches another, unless the login has ended. */
    private function account(Account $account, string $relay): void
    {
        $this->scope($account, $relay);
        $until = $account->validUntil();
        $left = $until === null ? null : $until - time();
        $this->add(true, "account $account->name is there and private; " . match (true) {
            $left === null => 'it has no access token yet',
            $left > 0 => 'its access token is valid for ' . Terminal::span($left),
            default => 'its access token ended ' . Terminal::span(-$left) . ' ago; mailqueue '
                . 'doctor --relay tries to get another',
        }, '');
        $ending = $account->ending();
        $ending === null || $this->add(
            false,
            $ending,
            'From then on mail waits. To log in again, as this user:',
            $account->login()
        );
    }

    /** Warns if a token of Microsoft is for SMTP and the transport is Graph, or the reverse. */
    private function scope(Account $account, string $relay): void
    {
        $members = $account->members();
        $scope = $members['scope'] ?? '';
        $isGraph = preg_match('~\A\s*microsoftgraph\+https://~i', $relay) === 1;
        if (($members['provider'] ?? '') !== 'microsoft'
            || str_contains($scope, 'graph.microsoft.com') === $isGraph) {
            return;
        }
        $isClient = ($members['grant'] ?? '') === 'client_credentials';
        $wanted = match (true) {
            $isClient => $isGraph ? 'https://graph.microsoft.com/.default'
                : 'https://outlook.office365.com/.default',
            default => ($isGraph ? 'https://graph.microsoft.com/Mail.Send'
                : 'https://outlook.office.com/SMTP.Send') . ' offline_access',
        };
        $this->add(
            false,
            "account $account->name has the scope $scope, which is not for "
            . ($isGraph ? 'Microsoft Graph' : 'SMTP') . ': the relay will refuse its tokens',
            'Give the application the permission, then log in again:',
            "mailqueue login microsoft --account $account->name --scope "
            . Terminal::word($wanted) . ($isClient ? ' --client-credentials' : '')
        );
    }

    /** Warns if others on the network can read the password or the token. */
    private function secrecy(string $dsn, string $what): void
    {
        $isHere = preg_match('~(?:@|//)(localhost|127\.[\d.]+|\[::1\]|)(?=[:/?]|\z)~i', $dsn);
        $options = ['tls=none' => 'tls=none', 'auto_tls=(0|false|no|off)' => 'auto_tls=0',
            'verify_peer=(0|false|no|off)' => 'verify_peer=0'];
        foreach ($options as $option => $name) {
            if (!$isHere && preg_match("~[?&]{$option}(?=&|\\z)~", $dsn)) {
                $this->add(false, "the transport's $what goes out with $name: others on the way "
                    . 'can read it', "Remove $name; for a certificate of your own give "
                    . 'cafile=/path/to/ca.pem.');
            }
        }
    }

    /**
     * The transport as it may be shown, or the reason why work would refuse it.
     *
     * @return array{?string, ?string}
     */
    private function check(string $dsn): array
    {
        try {
            return [MailQueue::checkTransport($dsn, (int) $this->settings->workInt('lease')), null];
        } catch (\ValueError $e) {
            // The error quotes options; in a badly written DSN these may be a part of the password.
            $mayTell = !str_contains((string) strstr($dsn, '?'), '@');
            $text = str_replace(
                'cannot be used: transport: ',
                'cannot be used: ',
                Failure::text($e)
            );
            return [null, $mayTell ? $text : 'the transport cannot be read'];
        }
    }

    private function program(string $command, string $name): bool
    {
        preg_match('/\A\s*(?:"([^"]*)"|\'([^\']*)\'|(\S+))/', $command, $match);
        $program = end($match) ?: '';
        $why = match (true) {
            $program === '' => 'is empty',
            $program[0] !== '/' => "names $program, which is not an absolute path",
            !@is_file($program) => "names $program, which does not exist",
            !is_executable($program) => "names $program, which this user cannot run",
            self::leadsHere($command) => 'leads back to this queue: mail would go round in '
                . 'circles, so it is refused',
            default => null,
        };
        $this->add(
            $why === null,
            "$name " . ($why ?? "sends mail through $program"),
            'Set MAILQUEUE_TRANSPORT to your relay, such as smtp://user:password@host:587, or '
            . 'install a program that sends and name it: sendmail://default?command=…'
        );
        return $why === null;
    }

    /** Whether a command line starts mailqueue, by any name. */
    private static function leadsHere(string $command): bool
    {
        foreach (preg_split('/[\s"\']+/', $command, -1, PREG_SPLIT_NO_EMPTY) ?: [] as $word) {
            $path = $word[0] === '/' ? @realpath($word) : false;
            if ($path === PROGRAM || ($path !== false && basename($path) === 'mailqueue')) {
                return true;
            }
        }
        return false;
    }

    /** @param string|null $keys "domain:selector:/path", several with commas or blanks between */
    public function keys(?string $keys): void
    {
        foreach (preg_split('/[\s,]+/', (string) $keys, -1, PREG_SPLIT_NO_EMPTY) ?: [] as $key) {
            [$domain, $selector, $file] = explode(':', $key, 3) + ['', '', ''];
            $mode = (int) @fileperms($file);
            $private = 'chmod 600 ' . Terminal::word($file);
            [$why, $cure, $run] = match (true) {
                $domain === '' || $selector === '' || !str_starts_with($file, '/')
                    => ['is not DOMAIN:SELECTOR:/path/key.pem', 'Write it so.', null],
                !@is_file($file) => ['names a file that does not exist or cannot be reached',
                    'To make a key, as the user of the cron job:', 'umask 077; openssl genpkey '
                    . '-algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out ' . Terminal::word($file)],
                !is_readable($file) => ['names a file that this user cannot read',
                    "chown it to the user of the cron job, $private", null],
                ($mode & 0o026) !== 0 => [sprintf('names a file with mode %04o', $mode & 0o7777),
                    "Others can sign as $domain, and the worker refuses it:", $private],
                !in_array(fileowner($file), [0, FileAccess::user()], true)
                    => ['names a file that belongs to somebody else', 'The worker refuses it: '
                    . "chown it to the user of the cron job, $private", null],
                !str_contains((string) file_get_contents($file, length: 65_536), 'PRIVATE KEY-')
                    => ['names a file that is not a private key in PEM form', 'Give the file of '
                    . 'the private key, not that of the public one.', null],
                default => [null, '', null],
            };
            $this->add(
                $why === null,
                "DKIM key $domain:$selector " . ($why ?? 'is there and private'),
                $cure,
                $run
            );
        }
    }

    public function capture(?string $path): void
    {
        if (!filter_var(ini_get('mailqueue.capture_mail'), FILTER_VALIDATE_BOOL)) {
            return;
        }
        $into = (string) ini_get('mailqueue.database');
        $named = new Named($into);
        $real = $named->isServer ? 'a database server'
            : (realpath((string) $named->path) ?: $named->shown);
        $why = match (true) {
            $into === '' => 'but mailqueue.database is not set',
            $path === null && !$named->isServer => "into $real, and this looks at a server",
            $path !== null && $real !== $path => "into $real, and this looks at $path",
            default => null,
        };
        $this->add(
            $why === null,
            'mail() is captured' . ($why === null ? '' : ", $why"),
            'Let mailqueue.database in php.ini name the ' . ($path === null ? 'database' : 'file')
            . ' that the worker empties'
            . ($path === null ? '.' : ": $path")
        );
    }

    /** Checks the aliases of this host's users. */
    public function aliases(): void
    {
        $aliases = Aliases::configured();
        if ($aliases === null) {
            return;
        }
        try {
            $aliases->check();
            $this->add(true, "aliases $aliases->path: each leads to an address", '');
        } catch (Stop $e) {
            $this->add(false, $e->getMessage(), 'Until that is fixed, mailqueue sendmail refuses '
                . 'mail to users of this host.');
        }
        FileAccess::othersMayWrite($aliases->path) && $this->add(
            false,
            "aliases $aliases->path can be written by others than its "
            . 'owner, so others can read root\'s mail',
            'To stop that:',
            'chmod go-w ' . Terminal::word($aliases->path)
        );
    }

    /** Whether a relay of this machine can have replies of SMTP or LMTP. */
    private function mayReply(): bool
    {
        $relays = $this->settings->relays();
        $dsns = [];
        foreach (Map::transports($this->settings->transport(), $relays) as $one) {
            $dsns = [...$dsns, ...(is_string($one) ? Group::relays($one) : [])];
        }
        return $relays instanceof \Closure
            || array_filter(array_map(Target::of(...), $dsns)) !== [];
    }

    /** Checks the rules for what replies mean. */
    public function verdicts(): void
    {
        try {
            $file = $this->settings->verdicts();
            if ($file === null) {
                return;
            }
            $rules = Internal::verdictRules();
            $count = "$rules " . ($rules === 1 ? 'rule' : 'rules');
            $isAsked = $this->mayReply();
            $this->add(
                $isAsked,
                "verdicts $file: $count" . ($isAsked ? '' : ', but no relay speaks SMTP or LMTP'),
                'Rules are about replies of SMTP and LMTP; what the answers of others mean is '
                . 'fixed. Leave them out.'
            );
        } catch (Stop | MailQueue\Exception $e) {
            $this->add(false, $e->getMessage(), 'Until that is fixed, the worker sends nothing. '
                . 'To try a rule: mailqueue verdict');
            return;
        }
        FileAccess::othersMayWrite($file) && $this->add(
            false,
            "verdicts $file can be written by others than its owner, so others can have mail "
            . 'parked',
            'To stop that:',
            'chmod go-w ' . Terminal::word($file)
        );
    }
}
