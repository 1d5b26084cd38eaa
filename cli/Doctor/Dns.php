<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Relay\Spf;
use MailQueue\Cli\Relay\Target;

/**
 * What the DNS says about mail of the sender's domain: SPF (RFC 7208), DKIM (RFC 6376) and DMARC
 * (RFC 7489). Asks the name servers of this host (/etc/resolv.conf).
 */
final class Dns extends Check
{
    private const KEY_BITS_MIN = 1024;

    /** @param string|null $keys of DKIM, "domain:selector:/path", several with commas between */
    public function look(string $domain, ?string $keys, ?string $selector, ?Target $relay): void
    {
        if (!preg_match('/\A[\w-]+(\.[\w-]+)+\z/', $domain)) {
            $this->add(false, "dns: mail cannot come from $domain, which is not a domain", 'Give '
                . '--from with the address that your mail comes from.');
            return;
        }
        $this->spf($domain, $relay);
        $pairs = $selector === null ? [] : [[$domain, $selector, '']];
        foreach (preg_split('/[\s,]+/', (string) $keys, -1, PREG_SPLIT_NO_EMPTY) ?: [] as $key) {
            $pairs[] = explode(':', $key, 3) + ['', '', ''];
        }
        $pairs !== [] || $this->add(true, "dns: DKIM of $domain is not looked at: this host does "
            . 'not sign; if the relay does, give --selector NAME', '');
        foreach ($pairs as [$of, $name, $file]) {
            $this->dkim($of, $name, $file);
        }
        $this->dmarc($domain);
    }

    /**
     * The texts of a name; null: the name servers could not be asked.
     *
     * @return list<string>|null
     */
    public static function texts(string $name): ?array
    {
        $records = @dns_get_record($name, DNS_TXT);
        return $records === false ? null : array_column($records, 'txt');
    }

    /**
     * Finds the one text that begins so. If there is none or there are several, says that.
     *
     * @param string $what "SPF of example.org"
     */
    private function one(string $what, string $name, string $begin, string $cure): ?string
    {
        $texts = self::texts($name);
        $found = preg_grep($begin, $texts ?? []) ?: [];
        if (count($found) === 1) {
            return (string) current($found);
        }
        $this->add(false, "dns: $what: " . match (true) {
            $texts === null => "the name servers of this host do not answer for $name",
            $found === [] => 'there is none',
            default => 'there are ' . count($found) . ', so receivers take none',
        }, $texts === null ? 'Check /etc/resolv.conf.' : ($found === [] ? $cure
            : "Leave one TXT record of $name that begins so."));
        return null;
    }

    private function spf(string $domain, ?Target $relay): void
    {
        $cure = 'Publish who sends for it, as the operator of your relay says: '
            . "$domain TXT \"v=spf1 include:… -all\".";
        $record = $this->one("SPF of $domain", $domain, '/\Av=spf1( |\z)/i', $cure);
        if ($record === null) {
            return;
        }
        $spf = new Spf($domain, $record);
        $this->add($spf->fault === null, "dns: SPF of $domain: $record"
            . ($spf->fault === null ? '' : ": $spf->fault"), 'Correct it: receivers take a record '
            . 'with an error as none, or refuse the mail.');
        $addresses = $relay === null || $relay->isLoopback() ? [] : Spf::addresses($relay->host);
        if ($spf->isOpen()) {
            $this->add(false, "dns: SPF of $domain lets everybody send", 'End it with -all or '
                . '~all, without a plus.');
        }
        if ($spf->fault !== null || $spf->isOpen() || $addresses === []) {
            return;
        }
        $covered = array_filter($addresses, $spf->covers(...));
        $list = implode(', ', $addresses);
        $this->add($covered !== [] || !$spf->isClosed, "dns: SPF of $domain "
            . ($covered !== [] ? "lets the relay send ($list)"
            : "does not name the relay ($list)"
            . ($spf->isClosed ? '' : '; whether it names the addresses from which the relay sends '
            . 'on cannot be decided here')), 'If the relay sends on from these addresses, add '
            . "them (ip4:…, ip6:…), or add what its operator says (include:…): receivers refuse "
            . 'other senders.');
    }

    private function dkim(string $domain, string $selector, string $file): void
    {
        $name = "$selector._domainkey.$domain";
        $own = self::publicKey($file);
        $record = $this->one("DKIM key $name", $name, '/(?:\A|;)\s*p\s*=/i', 'Publish it: '
            . "$name TXT " . ($own === null ? 'with the public key, as the operator says.'
            : "\"v=DKIM1; k=$own[0]; p=$own[1]\" (in pieces of at most 255 characters)."));
        if ($record === null) {
            return;
        }
        preg_match('/(?:\A|;)\s*p\s*=([^;]*)/i', $record, $match);
        $published = preg_replace('/\s+/', '', $match[1] ?? '');
        $why = match (true) {
            $published === '' => 'is revoked: p= is empty',
            $own !== null && $published !== $own[1] => "is not that of $file",
            default => null,
        };
        $this->add($why === null, "dns: DKIM key $name " . ($why ?? ('is published'
            . ($own === null ? '' : ' and fits the private key'))), $own === null
            ? 'Take a selector that is published, or publish its key.'
            : "Publish p=$own[1] under $name, or sign with the key whose public part is there.");
    }

    /**
     * Type and public key of a private key, as DNS has it; null: not known.
     *
     * @return array{string, string}|null
     */
    private static function publicKey(string $file): ?array
    {
        $pem = $file === '' || !function_exists('openssl_pkey_get_private') ? false
            : @file_get_contents($file, length: 65_536);
        $key = $pem === false ? false : openssl_pkey_get_private($pem);
        $about = $key === false ? false : openssl_pkey_get_details($key);
        if ($about === false || $about['type'] !== OPENSSL_KEYTYPE_RSA
            || $about['bits'] < self::KEY_BITS_MIN) {
            return null;
        }
        return ['rsa', preg_replace('/-----[^-]+-----|\s+/', '', $about['key']) ?? ''];
    }

    /** Walks up to the organisation's domain, whose record counts for those below it. */
    private function dmarc(string $domain): void
    {
        for ($of = $domain; str_contains($of, '.'); $of = substr((string) strstr($of, '.'), 1)) {
            if (preg_grep('/\Av\s*=\s*DMARC1/i', self::texts("_dmarc.$of") ?? [])) {
                break;
            }
        }
        $of = substr_count($of, '.') > 0 ? $of : $domain;
        $record = $this->one("DMARC of $domain", "_dmarc.$of", '/\Av\s*=\s*DMARC1/i', 'Publish a '
            . "policy; large receivers want one: _dmarc.$domain TXT \"v=DMARC1; p=none; "
            . "rua=mailto:postmaster@$domain\".");
        if ($record !== null) {
            $isGood = preg_match('/;\s*p\s*=\s*(none|quarantine|reject)\s*(;|\z)/i', $record) === 1;
            $this->add($isGood, "dns: DMARC of $domain" . ($of === $domain ? '' : " (of $of)")
                . ": $record" . ($isGood ? '' : ': it has no policy'), 'Add p=none, p=quarantine '
                . 'or p=reject.');
        }
    }
}
