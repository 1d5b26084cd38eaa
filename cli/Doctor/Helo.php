<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Relay\Spf;
use MailQueue\Cli\Relay\Target;
use MailQueue\Internal;

/**
 * Whether the DNS knows this host by the name that it says in EHLO, and the address that it sends
 * from: what servers ask who take mail without a login.
 */
final class Helo extends Check
{
    private const FULL = '/\A[\w-]+(\.[\w-]+)*\.(?!local(domain)?\z)[a-z][\w-]+\z/i';

    public function look(Target $relay): void
    {
        if ($relay->isLoopback() || $relay->user !== null) {
            return; // the relay knows us, and others see only its name
        }
        $name = Internal::helo($relay->dsn);
        if ($this->name($name)) {
            $this->address($name, $relay->sourceAddress());
        }
    }

    private function name(string $name): bool
    {
        $isLiteral = str_starts_with($name, '[');
        $isFull = preg_match(self::FULL, $name) === 1;
        $addresses = $isFull ? Spf::addresses($name) : [];
        $this->add($addresses !== [], "helo: EHLO says $name" . match (true) {
            $isLiteral => ', an address in place of a name: many servers refuse that',
            !$isFull => ', which is not a full name: many servers refuse that',
            $addresses === [] => ', which has no address in the DNS',
            default => ' (' . implode(', ', $addresses) . ')',
        }, $isFull ? "Publish $name with the address of this host, or name another one in the "
            . 'transport: ?ehlo=mail.example.org.'
            : 'Give this host a full name (hostnamectl set-hostname mail.example.org), or name it '
            . 'in the transport: ?ehlo=mail.example.org.');
        return $addresses !== [];
    }

    /** @param string|null $address from which this host sends; null: not known */
    private function address(string $name, ?string $address): void
    {
        $isPublic = filter_var(
            (string) $address,
            FILTER_VALIDATE_IP,
            FILTER_FLAG_NO_PRIV_RANGE | FILTER_FLAG_NO_RES_RANGE
        ) !== false;
        if ($address === null || !$isPublic) {
            $this->add(true, 'helo: the PTR is not looked at: ' . ($address === null
                ? 'it is not known from which address this host sends'
                : "this host sends from $address, and servers see the address of its network")
                . '; ?source_ip= in the transport names one', '');
            return;
        }
        $names = array_column(@dns_get_record(self::reverse($address), DNS_PTR) ?: [], 'target');
        $isSame = static fn (string $one): bool => inet_pton($one) === inet_pton($address);
        $good = array_filter($names, static fn (string $one): bool
            => array_filter(Spf::addresses($one), $isSame) !== []);
        $list = implode(', ', $good !== [] ? $good : $names);
        $of = "the PTR of $address, from which this host sends,";
        $this->add($good !== [], "helo: $of " . match (true) {
            $names === [] => 'is missing: many servers refuse that',
            $good === [] => "is $list, which has other addresses",
            default => "is $list, which has that address",
        }, $names === [] ? "Have the owner of the address (your hoster) set it to $name."
            : "Publish $list with $address, or have the owner of the address set its PTR to "
            . "$name.");
    }

    /** The name under which the DNS has the PTR of an address. */
    private static function reverse(string $address): string
    {
        $binary = (string) inet_pton($address);
        return strlen($binary) === 4
            ? implode('.', array_reverse(explode('.', $address))) . '.in-addr.arpa'
            : implode('.', array_reverse(str_split(bin2hex($binary)))) . '.ip6.arpa';
    }
}
