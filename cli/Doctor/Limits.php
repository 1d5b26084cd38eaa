<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue;
use MailQueue\Cli\Relay\Group;
use MailQueue\Cli\Relay\Map;
use MailQueue\Cli\Settings;
use MailQueue\Cli\Stop;
use MailQueue\Cli\Terminal;

/** Looks for limits "per relay NAME" whose relay this machine does not know: they limit nothing. */
final class Limits extends Check
{
    public function __construct(Findings $findings, private readonly Settings $settings)
    {
        parent::__construct($findings);
    }

    public function look(MailQueue $queue): void
    {
        $known = $this->known();
        if ($known === null) {
            return;
        }
        foreach (['mailLimits', 'mailWarmup'] as $key) {
            $text = (string) $queue->config($key);
            preg_match_all('/\bper\h+relay\h+([^\s,]+)/i', $text, $matches);
            foreach (array_unique($matches[1]) as $name) {
                $this->isOne($name, $known) || $this->add(
                    false,
                    "$key has a limit per relay " . Terminal::safe($name)
                        . ', and no relay of this machine has this name: it limits nothing here',
                    'Unless another machine sends through it, write it in ' . $key . ' as the '
                    . 'transport has it: ' . Terminal::safe(implode(', ', $known))
                    . ' (or only the host, with or without the port).'
                );
            }
        }
    }

    /** @return array<string>|null the relays' names; null: they cannot all be known */
    private function known(): ?array
    {
        try {
            $relays = $this->settings->relays();
            $transports = Map::transports($this->settings->transport(), $relays);
            $names = [];
            foreach ([$relays, ...$transports] as $one) {
                if ($one instanceof \Closure) {
                    return null;
                }
            }
            foreach ($transports as $one) {
                $dsns = Group::relays(is_string($one) ? $one : 'sendmail://default');
                array_push($names, ...array_map(MailQueue::checkTransport(...), $dsns));
            }
            return array_unique($names);
        } catch (\ValueError | Stop) {
            return null; // another finding says why
        }
    }

    /**
     * As the limit itself compares them (src/policy/limits.c, relay_is()).
     *
     * @param array<string> $known
     */
    private function isOne(string $name, array $known): bool
    {
        foreach ($known as $relay) {
            preg_match('~://(?:[^/?]*@)?([^/?]*)~', $relay, $place);
            preg_match('~\A(?:\[([^]]*)|([^:]*))~', $place[1] ?? $relay, $host);
            $words = [$place[1] ?? $relay, $host[2] ?? $host[1] ?? ''];
            $words = array_map(strtolower(...), $words);
            if ($relay === $name || in_array(strtolower($name), $words, true)) {
                return true;
            }
        }
        return false;
    }
}
