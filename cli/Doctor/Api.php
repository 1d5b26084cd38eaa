<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue;
use MailQueue\Cli\Failure;
use MailQueue\Cli\Relay\Dialogue;
use MailQueue\Internal;

/** Connects to a mail API as the worker does and, if that changes nothing, shows it the key. */
final class Api extends Check
{
    public static function is(string $transport): bool
    {
        return preg_match('~\A\s*\w+\+https://~i', $transport) === 1;
    }

    /** Returns whether the API can be reached. */
    public function look(string $transport): bool
    {
        try {
            $shown = MailQueue::checkTransport($transport);
            $dialogue = new Dialogue(Internal::probe($transport), $transport);
        } catch (\ValueError | MailQueue\Exception $e) {
            $this->add(false, 'relay: ' . Failure::text($e), 'docs/transports.md says how the '
                . 'transport of an API is written.');
            return false;
        }
        $shown = preg_replace('~//.*@~', '//', (string) strtok($shown, '?'));
        $isOpen = $this->connection((string) $shown, $dialogue);
        $isOpen && $this->key($dialogue);
        return $isOpen;
    }

    private function connection(string $shown, Dialogue $dialogue): bool
    {
        $cipher = $dialogue->note('~\ASSL connection using (\S+(?: / [A-Z0-9_-]+)?)~');
        $isOpen = $dialogue->failure === null || $dialogue->lines !== [];
        $this->add(
            $isOpen,
            "relay: $shown: " . ($isOpen ? 'connected, ' . ($cipher === null
                ? 'not encrypted: it is on this host' : "encrypted with $cipher")
                : $dialogue->failure),
            preg_match('/certificate|subject name/i', (string) $dialogue->failure) === 1
                ? 'If the certificate is your own CA\'s, name that in the transport: '
                . 'cafile=/path/to/ca.pem. If not, somebody may be in the way.'
                : 'Check the region and the host in the transport, this host\'s '
                . '/etc/resolv.conf, and whether a firewall lets HTTPS out (port 443).'
        );
        return $isOpen;
    }

    private function key(Dialogue $dialogue): void
    {
        if ($dialogue->lines === []) {
            $this->add(true, 'relay: the login is not tried: this API has no call for it that '
                . 'needs no other right', '');
            return;
        }
        $this->add(
            $dialogue->failure === null,
            'relay: ' . ($dialogue->failure ?? 'the key is accepted'),
            'Check the key, the region and the domain in the transport (with : / @ ? # '
            . 'percent-encoded), the rights of the key, and this host\'s clock. A key that may '
            . 'only send is refused here, and can be right.'
        );
    }
}
