<?php

declare(strict_types=1);

namespace MailQueue\Cli\Relay;

use MailQueue\Cli\Doctor\Dns;

/** An SPF record (RFC 7208), and whether it lets an address send, as far as that can be decided. */
final class Spf
{
    /** RFC 7208, section 4.6.4: more terms that ask the DNS are an error. */
    private const LOOKUPS_MAX = 10;
    private const MECHANISM
        = '/\A([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?=[:\/]|\z):?(.*)\z/i';
    private const EVERYBODY = [["\0\0\0\0", 0],
        ["\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0]];

    /** What makes receivers reject the record; null: nothing. */
    public ?string $fault = null;
    /** Whether it names all that may send, in terms that are decided here. */
    public bool $isClosed = true;
    /** @var list<array{string, int}> networks that may send: the address in binary, bits */
    private array $networks = [];
    private int $lookups = 0;

    public function __construct(string $domain, string $record)
    {
        $this->read($domain, $record, 0);
    }

    private function read(string $domain, string $record, int $depth): void
    {
        $redirect = null;
        $hasAll = false;
        $terms = preg_split('/ +/', trim(substr($record, 6)), -1, PREG_SPLIT_NO_EMPTY) ?: [];
        foreach ($terms as $term) {
            if (!preg_match(self::MECHANISM, $term, $match)) {
                $redirect ??= $this->modifier($term);
                continue;
            }
            [, $sign, $name, $value] = $match;
            $hasAll = $hasAll || strtolower($name) === 'all';
            if ($sign === '' || $sign === '+') {
                $this->mechanism($domain, strtolower($name), $value, $depth);
            }
        }
        $this->isClosed = $this->isClosed && ($depth > 0 || $hasAll);
        if ($redirect !== null && !$hasAll && $this->asks()) { // section 6.1
            $this->include($redirect, $depth);
        }
    }

    /** Returns the domain of "redirect="; null: the term is another modifier. */
    private function modifier(string $term): ?string
    {
        if (!preg_match('/\A([a-z][\w.-]*)=(.*)\z/i', $term, $match)) {
            $this->fault ??= "\"$term\" is not a term";
            return null;
        }
        return strtolower($match[1]) === 'redirect' ? $match[2] : null;
    }

    /** Counts a term that asks the DNS; false: it is one too many. */
    private function asks(): bool
    {
        if (++$this->lookups <= self::LOOKUPS_MAX) {
            return true;
        }
        $this->fault ??= 'it asks the DNS more than ' . self::LOOKUPS_MAX . ' times';
        return false;
    }

    private function mechanism(string $domain, string $name, string $value, int $depth): void
    {
        preg_match('~\A([^/]*)(?:/(\d{1,3}))?(?://(\d{1,3}))?(.*)\z~s', $value, $match);
        [, $of, $four, $six, $rest] = $match + ['', '', '', '', ''];
        if ($rest !== '') {
            $this->fault ??= "\"$value\" has no number of bits behind its /";
            return;
        }
        $of = $of === '' ? $domain : $of;
        if (in_array($name, ['include', 'a', 'mx', 'ptr', 'exists'], true) && !$this->asks()) {
            return;
        }
        match ($name) {
            'all' => $this->networks = [...$this->networks, ...self::EVERYBODY],
            'ip4', 'ip6' => $this->network($of, $four),
            'a' => $this->hosts([$of], $four, $six),
            'mx' => $this->hosts(
                array_column(@dns_get_record($of, DNS_MX) ?: [], 'target'),
                $four,
                $six
            ),
            'include' => $this->include($of, $depth),
            default => null,
        };
        $this->isClosed = $this->isClosed && !str_contains($value, '%')
            && !in_array($name, ['include', 'ptr', 'exists'], true);
    }

    private function include(string $domain, int $depth): void
    {
        if (str_contains($domain, '%')) {
            return; // a macro, whose value only the receiver knows
        }
        $records = preg_grep('/\Av=spf1( |\z)/i', Dns::texts($domain) ?? []) ?: [];
        if (count($records) !== 1) {
            $this->fault ??= "it names $domain, which has no SPF record";
        } else {
            $this->read($domain, (string) current($records), $depth + 1);
        }
    }

    /** @param list<string> $hosts */
    private function hosts(array $hosts, string $four, string $six): void
    {
        foreach ($hosts as $host) {
            foreach (self::addresses($host) as $address) {
                $this->network($address, str_contains($address, ':') ? $six : $four);
            }
        }
    }

    private function network(string $address, string $bits): void
    {
        $binary = @inet_pton($address);
        if ($binary === false) {
            $this->fault ??= "\"$address\" is not an address";
            return;
        }
        $most = 8 * strlen($binary);
        if ((int) $bits > $most) {
            $this->fault ??= "\"$address/$bits\" has more than $most bits";
            return;
        }
        $this->networks[] = [$binary, $bits === '' ? $most : (int) $bits];
    }

    /** Whether it lets everybody send. */
    public function isOpen(): bool
    {
        return in_array(0, array_column($this->networks, 1), true);
    }

    /** Whether the record lets this address send. */
    public function covers(string $address): bool
    {
        $binary = (string) inet_pton($address);
        foreach ($this->networks as [$network, $bits]) {
            $isIn = strlen($network) === strlen($binary);
            for ($bit = 0; $isIn && $bit < $bits; $bit++) {
                $differs = ord($network[$bit >> 3]) ^ ord($binary[$bit >> 3]);
                $isIn = ($differs & (0x80 >> ($bit & 7))) === 0;
            }
            if ($isIn) {
                return true;
            }
        }
        return false;
    }

    /** @return list<string> the addresses of a host or of an address in brackets */
    public static function addresses(string $host): array
    {
        $host = trim($host, '[]');
        if (filter_var($host, FILTER_VALIDATE_IP) !== false) {
            return [$host];
        }
        $records = @dns_get_record($host, DNS_A | DNS_AAAA) ?: [];
        return array_map(static fn (array $one): string => $one['ip'] ?? $one['ipv6'], $records);
    }
}
