<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Oauth\Account;
use MailQueue\Cli\Relay\Dialogue;
use MailQueue\Cli\Relay\Group;
use MailQueue\Cli\Relay\Target;
use MailQueue\Cli\Terminal;
use MailQueue\Internal;

/** Connects to the relay as the worker does, up to the login, and says how each step went. */
final class Relay extends Check
{
    /** A certificate should be renewed before this part of its time is left. */
    private const CERTIFICATE_REST = 0.1;
    /** What libcurl says if a certificate is not accepted. */
    private const NOT_TRUSTED = '/certificate|no alternative|subject name/i';

    /** @param string|\Closure|null $transport as it was given; of a group, each relay */
    public function look(string|\Closure|null $transport): void
    {
        array_map($this->lookAt(...), is_string($transport) ? Group::relays($transport)
            : [$transport]);
    }

    private function lookAt(string|\Closure|null $transport): void
    {
        if (is_string($transport) && Api::is($transport)) {
            $account = Target::accountOf($transport);
            (new Api($this->findings))->look($transport) && $account !== null
                && $this->token($account, (new Account($account))->asked());
            return;
        }
        $target = Target::of($transport);
        try {
            is_string($transport) && MailQueue::checkTransport($transport);
            if ($target === null) {
                $this->add(true, self::notAsked($transport), '');
                return;
            }
            $dialogue = new Dialogue(Internal::probe($target->dsn), $target->dsn);
        } catch (\ValueError | MailQueue\Exception $e) {
            $this->add(false, 'relay: ' . Failure::text($e), 'mailqueue doctor says how a '
                . 'transport is written.');
            return;
        }
        ($target->account === null || $this->token($target->account, $dialogue->failure))
            && $this->connection($target, $dialogue) && $this->greeting($target, $dialogue)
            && $this->encryption($target, $dialogue) && !$target->isLmtp
            && $this->login($target, $dialogue);
    }

    private static function notAsked(string|\Closure|null $transport): string
    {
        $scheme = $transport === null ? 'sendmail' : (is_string($transport)
            ? strtolower((string) strstr($transport, ':', true)) : '');
        return 'relay: ' . match ($scheme) {
            'null' => 'null:// has no relay: it throws mail away',
            'file' => 'file:// has no relay: it writes into a directory',
            'sendmail' => 'sendmail:// hands mail to a program of this host: it knows the relay, '
                . 'and is not asked',
            default => 'the transport is a function of the bootstrap file, and is not asked',
        };
    }

    /**
     * The worker asks for an access token before it connects, and again if that is refused.
     *
     * @param string|null $failure why the relay, or its API, cannot be used
     */
    private function token(string $account, ?string $failure): bool
    {
        $isThere = !str_starts_with((string) $failure, 'account ');
        $this->add(
            $isThere,
            'relay: ' . ($isThere ? "account $account has an access token"
                : "no access token: $failure"),
            'Until the account has a token, mail waits; no attempt is counted. If the server '
            . 'cannot be reached, look at its address in the account, and at this host\'s network.'
        );
        return $isThere;
    }

    private function connection(Target $target, Dialogue $dialogue): bool
    {
        $to = $target->isSocket() ? '' : $dialogue->note('/\AConnected to .*?(\(\S+\) port \d+)/')
            ?? $dialogue->note('/\AEstablished connection to .*?(\(\S+ port \d+\))/');
        $isOpen = $to !== null || $dialogue->lines !== [] || $dialogue->failure === null;
        $this->add(
            $isOpen,
            "relay: $target->shown: " . ($isOpen ? 'connected' . rtrim(" $to")
                : $dialogue->failure),
            match (true) {
                $target->isSocket() => 'Start the server that owns the socket, or correct its '
                    . 'path in the transport.',
                $target->isLmtp => 'Start the LMTP server, or correct its address in the '
                    . 'transport.',
                (bool) preg_match('/resolve/i', (string) $dialogue->failure)
                    => "Check the name $target->host in the transport, and this host's "
                    . '/etc/resolv.conf.',
                $dialogue->note('/(Connection refused)/') !== null
                    => "Nothing listens on port $target->port there. Take the port that the "
                    . "relay's operator names: 587 with smtp://, or 465 with smtps://.",
                default => 'A firewall may be in the way; many hosters close port 25. Take 587 '
                    . 'with smtp:// or 465 with smtps://, or ask the hoster.',
            }
        );
        return $isOpen;
    }

    /** The greeting, and EHLO. */
    private function greeting(Target $target, Dialogue $dialogue): bool
    {
        $failure = (string) $dialogue->failure;
        if ($target->isImplicit() && $dialogue->lines === [] && $failure !== '') {
            return true; // TLS comes first
        }
        $greeting = $dialogue->replyTo('');
        $word = $target->isLmtp ? 'LHLO' : 'EHLO';
        $reply = $dialogue->replyTo($word) ?? '';
        $isGood = str_starts_with((string) $greeting, '2') && str_starts_with($reply, '2');
        $offers = str_replace("\n", ', ', preg_replace(
            ['/\A.*(\n|\z)/', '/^\d{3}[ -]/m'],
            '',
            $reply
        ) ?? '');
        $this->add(
            $isGood,
            'relay: ' . ($isGood ? "$word: it offers " . ($offers === '' ? 'nothing' : $offers)
                : ($greeting === null ? "no greeting came: $failure"
                : "it refuses this host: $failure")),
            match (true) {
                $isGood => '',
                $target->isLmtp => 'A server that speaks SMTP there wants smtp:// in the '
                    . 'transport. Otherwise look at the server.',
                $greeting === null => 'A server that expects TLS at once (usually on port 465) '
                    . 'says nothing to smtp://: write smtps://. Otherwise look at the server.',
                default => 'Its words say why. Ask the operator to admit this host, or name this '
                    . 'host with ?ehlo=NAME in the transport.',
            }
        );
        return $isGood;
    }

    private function encryption(Target $target, Dialogue $dialogue): bool
    {
        $cipher = $dialogue->note('~\ASSL connection using (\S+(?: / [A-Z0-9_-]+)?)~');
        $failure = (string) $dialogue->failure;
        $isTrust = preg_match(self::NOT_TRUSTED, $failure) === 1
            && preg_match('/SSL|certificate/i', $failure) === 1;
        if ($isTrust) {
            $this->certificate(
                (new Dialogue(Internal::probe($target->unverified()), null))->certificate,
                $failure
            );
            return false;
        }
        if ($cipher !== null) {
            $this->add(true, "relay: encrypted with $cipher", '');
            $target->isUnchecked()
                ? $this->add(true, 'relay: the certificate is not checked: verify_peer=0', '')
                : $this->certificate($dialogue->certificate, null);
        } elseif (preg_match('/STARTTLS|SSL|TLS/i', $failure) === 1) {
            $isPlain = preg_match('/wrong version|packet length|unexpected/i', $failure) === 1;
            $this->add(false, "relay: no encryption: $failure", $isPlain
                ? 'This port does not begin with TLS: write smtp://, which uses STARTTLS.'
                : 'Take a port with TLS (smtps:// and 465), or ask the operator. Only if nobody '
                . 'else is on the way to the relay: add ?tls=none to the transport.');
            return false;
        } elseif ($failure === '' || !$target->isImplicit()) {
            $this->add(true, 'relay: not encrypted: ' . ($target->isLoopback()
                ? 'it is on this host' : 'the transport says tls=none'), '');
        }
        return true;
    }

    /**
     * @param array<string, string> $fields of Dialogue::$certificate
     * @param string|null $failure why it is not accepted
     */
    private function certificate(array $fields, ?string $failure): void
    {
        $names = $fields['X509v3 Subject Alternative Name'] ?? $fields['Subject'] ?? '';
        $names = preg_replace('/(?:DNS|IP Address):/', '', $names);
        $until = strtotime($fields['Expire date'] ?? '');
        $text = $fields === [] ? 'it was not shown' : "for $names, by " . ($fields['Issuer'] ?? '?')
            . ($until === false ? '' : ', until ' . gmdate('Y-m-d H:i:s\Z', $until));
        $from = strtotime($fields['Start date'] ?? '');
        $isSoon = $failure === null && $until !== false && $from !== false
            && $until - time() < ($until - $from) * self::CERTIFICATE_REST;
        $this->add(
            $failure === null && !$isSoon,
            "relay: the certificate $text" . ($failure === null ? '' : " is not accepted: $failure")
            . ($isSoon ? '; that is in ' . Terminal::span((int) $until - time()) : ''),
            match (true) {
                $isSoon => 'The relay\'s operator must renew it. When it has ended, no mail goes.',
                $until !== false && $until < time()
                    => 'It has ended: the relay\'s operator must renew it.',
                str_contains((string) $failure, 'match')
                    => "Write one of its names in the transport: $names.",
                str_contains((string) $failure, 'not yet valid')
                    => 'Check this host\'s clock (timedatectl).',
                default => 'If it is your own CA\'s, name that in the transport: '
                    . '?cafile=/path/to/ca.pem. If not, somebody may be in the way: send no login.',
            }
        );
    }

    private function login(Target $target, Dialogue $dialogue): void
    {
        $offered = preg_match('/^250[ -]AUTH[ =](.*)/mi', $dialogue->replyTo('EHLO') ?? '', $match)
            ? $match[1] : null;
        if ($dialogue->failure !== null) {
            $this->add(false, "relay: $dialogue->failure", $target->user === null
                ? 'mailqueue send --test ADDRESS shows what is said.' : ($offered === null
                ? 'Take the relay\'s port for clients: 587 with smtp://, or 465 with smtps://. Or '
                . 'remove user and password, if the relay knows this host.'
                : ($target->account !== null ? 'The account must be the user\'s, with the scope '
                . 'for SMTP (mailqueue accounts). At Microsoft, SMTP AUTH must be on for the '
                . 'mailbox.'
                : 'Check user and password in the transport (with : / @ ? # percent-encoded). Many '
                . 'providers want a password for applications here.')));
        } elseif ($dialogue->isLoggedIn()) {
            $this->add(true, "relay: logged in as $target->user", '');
        } else {
            $this->add(true, 'relay: no login: the transport names no user'
                . ($offered === null ? '' : "; the relay offers $offered"), '');
        }
    }
}
