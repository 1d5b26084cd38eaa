--TEST--
doctor --dns: SPF, DKIM and DMARC of the sender's domain, against a name server on loopback
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) die('skip root is needed, for port 53 and a resolv.conf of the test\'s own');
foreach (['unshare', 'dnsmasq'] as $program) {
    if (!shell_exec("PATH=\$PATH:/sbin:/usr/sbin command -v $program")) die("skip $program is missing; tools/setup installs it");
}
exec('unshare -m mount --bind /etc/hosts /etc/resolv.conf 2>&1', $said, $code);
if ($code !== 0) die('skip nothing can be mounted here: ' . implode(' ', $said));
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';
use MailQueueTest\Process;

$dir = temp_directory();
$address = '127.' . random_int(1, 254) . '.' . random_int(1, 254) . '.' . random_int(1, 254);
file_put_contents("$dir/resolv.conf", "nameserver $address\noptions timeout:10 attempts:1\n");
exec("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out $dir/key.pem 2>/dev/null; chmod 600 $dir/key.pem");
$public = preg_replace('/-----[^-]+-----|\s+/', '', (string) shell_exec("openssl pkey -in $dir/key.pem -pubout"));
$pieces = fn(string $text): string => implode(',', array_map(fn(string $piece): string => "\"$piece\"", str_split($text, 200)));
$texts = [
    'good.test' => 'v=spf1 ip4:192.0.2.0/24 -all', '_dmarc.good.test' => 'v=DMARC1; p=reject',
    's1._domainkey.good.test' => "v=DKIM1; k=rsa; p=$public",
    'old._domainkey.good.test' => 'v=DKIM1; p=', 'other._domainkey.good.test' => 'v=DKIM1; p=MIGf',
    'included.test' => 'v=spf1 include:spf.provider.test ~all', 'spf.provider.test' => 'v=spf1 ip6:2001:db8::/32 -all',
    '_dmarc.included.test' => 'v=DMARC1; rua=mailto:x@included.test',
    'mx.test' => 'v=spf1 mx a:relay.test -all', 'redirect.test' => 'v=spf1 redirect=good.test',
    'wrong.test' => 'v=spf1 ipv4:192.0.2.1 -all', 'many.test' => 'v=spf1 ' . str_repeat('a:h.test ', 11) . '-all',
    'lost.test' => 'v=spf1 include:none.test -all', 'any.test' => 'v=spf1 +all',
    'six-bits.test' => 'v=spf1 a:relay.test//64 -all', 'bits.test' => 'v=spf1 ip4:192.0.2.0/99 -all',
    'first.test' => 'v=spf1 ip4:192.0.2.0/24 -all redirect=none.test', 'loop.test' => 'v=spf1 redirect=loop.test',
    'words.test' => 'v=spf1 ip4:192.0.2.0/all -all',
];
$lines = "no-resolv\nno-hosts\nlisten-address=$address\nbind-interfaces\nuser=root\npid-file=\nlocal=/test/\n"
    . "host-record=relay.test,192.0.2.25\nhost-record=me.test,198.51.100.77,2a00:db8::77\nptr-record=99.100.51.198.in-addr.arpa,me.test\nhost-record=far.test,198.51.100.9\nhost-record=six.test,2001:db8::7\nmx-host=mx.test,far.test,10\n"
    . "txt-record=twice.test,\"v=spf1 a -all\"\ntxt-record=twice.test,\"v=spf1 mx -all\"\ntxt-record=twice.test,\"something else\"\n";
foreach ($texts as $name => $text) {
    $lines .= "txt-record=$name," . $pieces($text) . "\n";
}
file_put_contents("$dir/dnsmasq.conf", $lines);
$server = new Process(['dnsmasq', '--keep-in-foreground', "--conf-file=$dir/dnsmasq.conf", '--log-facility=-'], $dir);
$server->until('dnsmasq', fn(): bool => str_contains($server->output(), 'started'));

$show = function (string $what, string $from, string $transport = 'null://null', string ...$more) use ($dir, $public): void {
    $isHelo = str_starts_with($what, 'helo');
    $transport .= str_starts_with($transport, 'smtp') && !$isHelo ? '?ehlo=me.test&source_ip=198.51.100.77' : '';
    $command = cli_command(['doctor', '--dns', '--from', "shop@$from", '--transport', $transport, ...$more]);
    $process = proc_open(['unshare', '-m', 'sh', '-c', "mount --bind $dir/resolv.conf /etc/resolv.conf && exec \"\$@\"", 'sh', ...$command],
        [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, null, ['PATH' => getenv('PATH'), 'HOME' => $dir] + sanitizer_environment());
    $out = stream_get_contents($pipes[1]);
    $out = preg_replace($isHelo ? '/^ok    dns: .*\n/m' : '/^ok    helo: .*\n/m', '', $out);
    echo "--- $what: ", proc_close($process), "\n", str_replace([$public, $dir], ['PUBLIC', '%'], $out);
};
$key = fn(string $selector): array => ['--dkim', "good.test:$selector:$dir/key.pem"];
$show('all is there', 'good.test', 'smtp://relay.test', ...$key('s1'));
$show('another relay; a key of another pair', 'good.test', 'smtp://far.test', ...$key('other'));
$show('a key that is not published', 'good.test', 'null://null', ...$key('none'));
$show('a selector of the relay that is revoked', 'good.test', 'null://null', '--selector', 'old');
$show('nothing', 'nothing.test');
$show('a domain below; an include names the relay', 'included.test', 'smtp://six.test');
$show('an include does not', 'included.test', 'smtp://far.test');
$show('DMARC of the organisation', 'mail.good.test');
$show('by mx', 'mx.test', 'smtp://far.test');
$show('by redirect', 'redirect.test', 'smtp://relay.test');
$show('all may send', 'any.test', 'smtp://192.0.2.77');
foreach (['six-bits', 'bits', 'words', 'wrong', 'many', 'lost', 'twice', 'first', 'loop'] as $name) {
    $show($name, "$name.test", 'smtp://relay.test');
}
foreach (['all fits' => 'ehlo=me.test&source_ip=198.51.100.77', 'all fits, IPv6' => 'ehlo=me.test&source_ip=2a00:db8::77',
    'an address' => 'ehlo=[198.51.100.77]', 'no domain' => 'ehlo=localhost', 'a local one' => 'ehlo=shop.local',
    'not published' => 'ehlo=none.test', 'no PTR' => 'ehlo=me.test&source_ip=203.0.113.9',
    'the PTR is of another address' => 'ehlo=me.test&source_ip=198.51.100.99', 'a private address' => 'ehlo=me.test&source_ip=10.0.0.5'] as $what => $options) {
    $show("helo: $what", 'good.test', "smtp://relay.test?$options", ...$key('s1'));
}
$show('helo: a relay that knows us', 'good.test', 'smtp://user@relay.test', ...$key('s1'));
$show('no domain', 'localhost');
$server->stop();
$show('no name server', 'good.test');
?>
--EXPECT--
--- all is there: 0
ok    dns: SPF of good.test: v=spf1 ip4:192.0.2.0/24 -all
ok    dns: SPF of good.test lets the relay send (192.0.2.25)
ok    dns: DKIM key s1._domainkey.good.test is published and fits the private key
ok    dns: DMARC of good.test: v=DMARC1; p=reject
--- another relay; a key of another pair: 1
ok    dns: SPF of good.test: v=spf1 ip4:192.0.2.0/24 -all
look  dns: SPF of good.test does not name the relay (198.51.100.9)
      If the relay sends on from these addresses, add them (ip4:…, ip6:…), or add what its operator says (include:…): receivers refuse other senders.
look  dns: DKIM key other._domainkey.good.test is not that of %/key.pem
      Publish p=PUBLIC under other._domainkey.good.test, or sign with the key whose public part is there.
ok    dns: DMARC of good.test: v=DMARC1; p=reject
--- a key that is not published: 1
ok    dns: SPF of good.test: v=spf1 ip4:192.0.2.0/24 -all
look  dns: DKIM key none._domainkey.good.test: there is none
      Publish it: none._domainkey.good.test TXT "v=DKIM1; k=rsa; p=PUBLIC" (in pieces of at most 255 characters).
ok    dns: DMARC of good.test: v=DMARC1; p=reject
--- a selector of the relay that is revoked: 1
ok    dns: SPF of good.test: v=spf1 ip4:192.0.2.0/24 -all
look  dns: DKIM key old._domainkey.good.test is revoked: p= is empty
      Take a selector that is published, or publish its key.
ok    dns: DMARC of good.test: v=DMARC1; p=reject
--- nothing: 1
look  dns: SPF of nothing.test: there is none
      Publish who sends for it, as the operator of your relay says: nothing.test TXT "v=spf1 include:… -all".
ok    dns: DKIM of nothing.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of nothing.test: there is none
      Publish a policy; large receivers want one: _dmarc.nothing.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@nothing.test".
--- a domain below; an include names the relay: 1
ok    dns: SPF of included.test: v=spf1 include:spf.provider.test ~all
ok    dns: SPF of included.test lets the relay send (2001:db8::7)
ok    dns: DKIM of included.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of included.test: v=DMARC1; rua=mailto:x@included.test: it has no policy
      Add p=none, p=quarantine or p=reject.
--- an include does not: 1
ok    dns: SPF of included.test: v=spf1 include:spf.provider.test ~all
ok    dns: SPF of included.test does not name the relay (198.51.100.9); whether it names the addresses from which the relay sends on cannot be decided here
ok    dns: DKIM of included.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of included.test: v=DMARC1; rua=mailto:x@included.test: it has no policy
      Add p=none, p=quarantine or p=reject.
--- DMARC of the organisation: 1
look  dns: SPF of mail.good.test: there is none
      Publish who sends for it, as the operator of your relay says: mail.good.test TXT "v=spf1 include:… -all".
ok    dns: DKIM of mail.good.test is not looked at: this host does not sign; if the relay does, give --selector NAME
ok    dns: DMARC of mail.good.test (of good.test): v=DMARC1; p=reject
--- by mx: 1
ok    dns: SPF of mx.test: v=spf1 mx a:relay.test -all
ok    dns: SPF of mx.test lets the relay send (198.51.100.9)
ok    dns: DKIM of mx.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of mx.test: there is none
      Publish a policy; large receivers want one: _dmarc.mx.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@mx.test".
--- by redirect: 1
ok    dns: SPF of redirect.test: v=spf1 redirect=good.test
ok    dns: SPF of redirect.test lets the relay send (192.0.2.25)
ok    dns: DKIM of redirect.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of redirect.test: there is none
      Publish a policy; large receivers want one: _dmarc.redirect.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@redirect.test".
--- all may send: 1
ok    dns: SPF of any.test: v=spf1 +all
look  dns: SPF of any.test lets everybody send
      End it with -all or ~all, without a plus.
ok    dns: DKIM of any.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of any.test: there is none
      Publish a policy; large receivers want one: _dmarc.any.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@any.test".
--- six-bits: 1
ok    dns: SPF of six-bits.test: v=spf1 a:relay.test//64 -all
ok    dns: SPF of six-bits.test lets the relay send (192.0.2.25)
ok    dns: DKIM of six-bits.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of six-bits.test: there is none
      Publish a policy; large receivers want one: _dmarc.six-bits.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@six-bits.test".
--- bits: 1
look  dns: SPF of bits.test: v=spf1 ip4:192.0.2.0/99 -all: "192.0.2.0/99" has more than 32 bits
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of bits.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of bits.test: there is none
      Publish a policy; large receivers want one: _dmarc.bits.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@bits.test".
--- words: 1
look  dns: SPF of words.test: v=spf1 ip4:192.0.2.0/all -all: "192.0.2.0/all" has no number of bits behind its /
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of words.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of words.test: there is none
      Publish a policy; large receivers want one: _dmarc.words.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@words.test".
--- wrong: 1
look  dns: SPF of wrong.test: v=spf1 ipv4:192.0.2.1 -all: "ipv4:192.0.2.1" is not a term
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of wrong.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of wrong.test: there is none
      Publish a policy; large receivers want one: _dmarc.wrong.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@wrong.test".
--- many: 1
look  dns: SPF of many.test: v=spf1 a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test a:h.test -all: it asks the DNS more than 10 times
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of many.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of many.test: there is none
      Publish a policy; large receivers want one: _dmarc.many.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@many.test".
--- lost: 1
look  dns: SPF of lost.test: v=spf1 include:none.test -all: it names none.test, which has no SPF record
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of lost.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of lost.test: there is none
      Publish a policy; large receivers want one: _dmarc.lost.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@lost.test".
--- twice: 1
look  dns: SPF of twice.test: there are 2, so receivers take none
      Leave one TXT record of twice.test that begins so.
ok    dns: DKIM of twice.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of twice.test: there is none
      Publish a policy; large receivers want one: _dmarc.twice.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@twice.test".
--- first: 1
ok    dns: SPF of first.test: v=spf1 ip4:192.0.2.0/24 -all redirect=none.test
ok    dns: SPF of first.test lets the relay send (192.0.2.25)
ok    dns: DKIM of first.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of first.test: there is none
      Publish a policy; large receivers want one: _dmarc.first.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@first.test".
--- loop: 1
look  dns: SPF of loop.test: v=spf1 redirect=loop.test: it asks the DNS more than 10 times
      Correct it: receivers take a record with an error as none, or refuse the mail.
ok    dns: DKIM of loop.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of loop.test: there is none
      Publish a policy; large receivers want one: _dmarc.loop.test TXT "v=DMARC1; p=none; rua=mailto:postmaster@loop.test".
--- helo: all fits: 0
ok    helo: EHLO says me.test (198.51.100.77, 2a00:db8::77)
ok    helo: the PTR of 198.51.100.77, from which this host sends, is me.test, which has that address
--- helo: all fits, IPv6: 0
ok    helo: EHLO says me.test (198.51.100.77, 2a00:db8::77)
ok    helo: the PTR of 2a00:db8::77, from which this host sends, is me.test, which has that address
--- helo: an address: 1
look  helo: EHLO says [198.51.100.77], an address in place of a name: many servers refuse that
      Give this host a full name (hostnamectl set-hostname mail.example.org), or name it in the transport: ?ehlo=mail.example.org.
--- helo: no domain: 1
look  helo: EHLO says localhost, which is not a full name: many servers refuse that
      Give this host a full name (hostnamectl set-hostname mail.example.org), or name it in the transport: ?ehlo=mail.example.org.
--- helo: a local one: 1
look  helo: EHLO says shop.local, which is not a full name: many servers refuse that
      Give this host a full name (hostnamectl set-hostname mail.example.org), or name it in the transport: ?ehlo=mail.example.org.
--- helo: not published: 1
look  helo: EHLO says none.test, which has no address in the DNS
      Publish none.test with the address of this host, or name another one in the transport: ?ehlo=mail.example.org.
--- helo: no PTR: 1
ok    helo: EHLO says me.test (198.51.100.77, 2a00:db8::77)
look  helo: the PTR of 203.0.113.9, from which this host sends, is missing: many servers refuse that
      Have the owner of the address (your hoster) set it to me.test.
--- helo: the PTR is of another address: 1
ok    helo: EHLO says me.test (198.51.100.77, 2a00:db8::77)
look  helo: the PTR of 198.51.100.99, from which this host sends, is me.test, which has other addresses
      Publish me.test with 198.51.100.99, or have the owner of the address set its PTR to me.test.
--- helo: a private address: 0
ok    helo: EHLO says me.test (198.51.100.77, 2a00:db8::77)
ok    helo: the PTR is not looked at: this host sends from 10.0.0.5, and servers see the address of its network; ?source_ip= in the transport names one
--- helo: a relay that knows us: 0
--- no domain: 1
look  dns: mail cannot come from localhost, which is not a domain
      Give --from with the address that your mail comes from.
--- no name server: 1
look  dns: SPF of good.test: the name servers of this host do not answer for good.test
      Check /etc/resolv.conf.
ok    dns: DKIM of good.test is not looked at: this host does not sign; if the relay does, give --selector NAME
look  dns: DMARC of good.test: the name servers of this host do not answer for _dmarc.good.test
      Check /etc/resolv.conf.
