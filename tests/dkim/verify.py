#!/usr/bin/python3
"""Signs random mails and has python3-dkim verify them: verify.py SIGN [--bench]

SIGN is the program that `make -C tests/dkim` builds. For each algorithm 1,000 mails of a fixed seed
are signed; each verifies as it is and as relays may change it, and none does once an octet of the
body or of a signed field is changed, a field is taken out, or a second one is added on top. Prints
one line an algorithm; the exit code is 1 when something was not as it should be.
With --bench: signatures a second.
"""
import base64
import collections
import os
import random
import subprocess
import sys
import tempfile
import time

import dkim

SEED = 8463
MAILS = 1000
DOMAIN = 'example.org'
SIGNED_ALWAYS = [b'From', b'To', b'Cc', b'Subject', b'Date', b'Message-ID', b'Reply-To',
                 b'MIME-Version', b'Content-Type', b'Content-Transfer-Encoding']
SIGNED = [name.lower() for name in SIGNED_ALWAYS] + [
    b'sender', b'in-reply-to', b'references', b'list-id', b'list-unsubscribe',
    b'list-unsubscribe-post', b'resent-from', b'resent-to', b'resent-date', b'resent-message-id',
    b'content-disposition']
BLANKS = [b' ', b' ', b' ', b'  ', b'\t', b' \t ', b'   \t\t']

Mail = collections.namedtuple('Mail', 'prefix fields body')


# ---- random mails ----

def word(rng):
    kind = rng.random()
    if kind < 0.8:
        size = rng.randrange(1, 12)
        return bytes(rng.choice(b'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789.,;=:-_"()')
                     for _ in range(size))
    if kind < 0.95:
        return rng.choice(['größe', '漢字', 'ёж', '🎉', 'é\u0301']).encode()
    # Not at an end: the verifier takes VT and FF there for white space, which they are not.
    return b'x%cx' % rng.choice(b'\x01\x07\x0b\x0c\x1b\x7f')


def value(rng, words):
    """A field's value with odd blanks and folds, also lines of nothing but blanks."""
    out = rng.choice([b'', b' ', b' ', b'  ', b'\t'])
    for _ in range(words):
        out += word(rng) + rng.choice(BLANKS)
        if rng.random() < 0.2:
            out = out.rstrip(b' \t') if rng.random() < 0.5 else out
            out += b'\r\n' + rng.choice([b' ', b'\t', b'  \t'])
    return out.rstrip(b'\r\n') + rng.choice([b'', b'', b' ', b'\t ', b'\r\n ', b'\r\n\t'])


def case(rng, name):
    return rng.choice([name, name, name, name.upper(), name.lower(), name.title()])


def sender(rng):
    domain = rng.choice([DOMAIN, DOMAIN.upper(), 'mail.' + DOMAIN, 'a.b.' + DOMAIN]).encode()
    address = rng.choice([b'a', b'first.last', b'x+y', b'q']) + b'@' + domain
    return rng.choice([
        b' ' + address, b' <' + address + b'>', b'\t"Quoted, \\" name" \t<' + address + b'>',
        b' =?utf-8?Q?J=C3=BCrgen?=\r\n =?utf-8?Q?_M?= <' + address + b'> ',
        b' (comment b@evil.example) ' + address, b' ' + address + b', other@example.net',
        b'\r\n ' + address, b'  Plain  Name\r\n\t<' + address + b'>'])


def fields(rng):
    out = [(case(rng, b'From'), sender(rng))]
    for name in SIGNED_ALWAYS[1:]:
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            out.append((case(rng, name), value(rng, rng.randrange(0, 12))))
    for name in [b'Received', b'X-Mailer', b'Sender', b'References', b'In-Reply-To', b'List-Id',
                 b'Resent-To', b'List-Unsubscribe', b'List-Unsubscribe-Post', b'Resent-From',
                 b'Return-Path', b'Content-Disposition', b'X-From', b'Fro', b'Resent-Message-ID']:
        for _ in range(rng.choice([0, 0, 1, 1, 4])):
            out.append((case(rng, name), value(rng, rng.randrange(0, 25))))
    rng.shuffle(out)
    if rng.random() < 0.1:
        out.append((b'X-Long', b' ' + b'y' * 989))
    return out


def line(rng):
    kind = rng.random()
    if kind < 0.2:
        return rng.choice([b'', b' ', b'\t', b' \t \t'])
    if kind < 0.25:
        return b'z' * rng.randrange(900, 999)
    if kind < 0.3:
        return bytes(rng.choice([c for c in range(1, 256) if c not in (10, 13)])
                     for _ in range(rng.randrange(1, 200)))
    if kind < 0.35:
        return b'.' * rng.randrange(1, 4)
    text = b''.join(word(rng) + rng.choice(BLANKS) for _ in range(rng.randrange(1, 14)))
    return rng.choice([b'', b'', b' ', b'\t']) + (text if rng.random() < 0.3 else text.strip())


def body(rng):
    kind = rng.random()
    if kind < 0.05:
        return b''
    if kind < 0.1:
        return b'\r\n' * rng.randrange(1, 5)
    out = b''.join(line(rng) + b'\r\n' for _ in range(rng.randrange(1, 40)))
    if kind < 0.13:
        out *= 20
    if kind < 0.4:
        out += rng.choice([b'\r\n', b' \r\n', b'\t \r\n']) * rng.randrange(1, 30)
    return out if kind < 0.9 else out + rng.choice([b'no end', b'blank at the end ', b' '])


def mails():
    rng = random.Random(SEED)
    result = []
    for _ in range(MAILS):
        prefix = [(b'X-Original-To', b' x@example.org')] if rng.random() < 0.2 else []
        if rng.random() < 0.05:
            prefix.append((b'Reply-To', b' added@example.org'))
        result.append(Mail(prefix, fields(rng), body(rng)))
    return result


def render(header):
    return b''.join(name + b':' + text + b'\r\n' for name, text in header)


# ---- signing ----

def octets(mail):
    return render(mail.fields) + b'\r\n' + mail.body


def sign(program, keys, all_mails, now):
    stdin = b''.join(b'%d %d\n' % (len(render(m.prefix)), len(octets(m))) + render(m.prefix)
                     + octets(m) for m in all_mails)
    out = subprocess.run([program, keys, str(now)], input=stdin, stdout=subprocess.PIPE, check=True)
    result, rest = [], out.stdout
    while rest:
        size, _, rest = rest.partition(b'\n')
        result.append(rest[:int(size)])
        rest = rest[int(size):]
    assert len(result) == len(all_mails)
    return result


class Keys:
    """A key of each kind, with its record as the DNS would give it."""

    def __init__(self, directory):
        self.files, self.records = {}, {}
        for kind, options in (('rsa', ['-pkeyopt', 'rsa_keygen_bits:2048']), ('ed25519', [])):
            file = os.path.join(directory, kind + '.pem')
            subprocess.run(['openssl', 'genpkey', '-algorithm', kind, '-out', file] + options,
                           check=True, stderr=subprocess.DEVNULL)
            os.chmod(file, 0o600)
            public = subprocess.run(['openssl', 'pkey', '-in', file, '-pubout', '-outform', 'DER'],
                                    stdout=subprocess.PIPE, check=True).stdout
            public = public[-32:] if kind == 'ed25519' else public
            name = '%s._domainkey.%s.' % (kind, DOMAIN)
            self.files[kind] = file
            self.records[name.encode()] = b'v=DKIM1; k=%s; p=%s' % (kind.encode(),
                                                                   base64.b64encode(public))

    def list(self, *kinds):
        return ' '.join('%s:%s:%s' % (DOMAIN, kind, self.files[kind]) for kind in kinds)

    def lookup(self, name, timeout=5):
        return self.records.get(name)


# ---- verifying ----

class Checker:
    def __init__(self, keys):
        self.keys = keys
        self.counts = collections.Counter()
        self.wrong = 0

    def expect(self, what, verifies, signature, header, text, index=0):
        # SMTP ends a body that has no line end.
        end = b'' if not text or text.endswith(b'\r\n') else b'\r\n'
        mail = signature + render(header) + b'\r\n' + text + end
        try:
            verified = dkim.DKIM(mail).verify(idx=index, dnsfunc=self.keys.lookup)
        except (dkim.DKIMException, ValueError):
            verified = False
        self.counts[what] += 1
        if verified != verifies:
            self.wrong += 1
            if self.wrong < 4:
                print('%s: %s: %.1500r' % (what, 'verifies' if verified else 'fails', mail))

    def report(self, algorithm, seconds):
        print('%s: %s; %d wrong; %.1f s' % (
            algorithm, ', '.join('%d %s' % (n, what) for what, n in sorted(self.counts.items())),
            self.wrong, seconds))


def changed(rng, text):
    """One octet that is no blank becomes another; None where there is none."""
    places = [i for i, c in enumerate(text) if c not in b' \t\r\n\v\f']
    if not places:
        return None
    i = rng.choice(places)
    new = rng.choice([c for c in b'abcXYZ019' if c != text[i]])
    return text[:i] + bytes([new]) + text[i + 1:]


def refolded(rng, text):
    """Other white space of the same meaning (RFC 6376, 3.4.2)."""
    out = b''
    for piece in text.split(b' '):
        folds = [b'\r\n '] if out and not piece.endswith(b'\n') else []
        out += piece + rng.choice([b' ', b'  ', b' \t'] + folds)
    return b' ' + out + b'\t'


def check_mail(checker, rng, mail, signature):
    header = mail.prefix + mail.fields
    checker.expect('as sent', True, signature, header, mail.body)
    relay = [(b'Received', b' from relay by another'), (b'DKIM-Signature', b' v=1; a=b')]
    if not any(name.lower() == b'sender' for name, _ in header):
        relay.append((b'Sender', b' list@example.net'))
    checker.expect('through a relay', True, render(relay[:1]) + signature,
                   [(name.lower(), refolded(rng, text)) for name, text in header] + relay[1:],
                   mail.body.replace(b' ', b'\t ') + b'\r\n \r\n')

    body_changed = changed(rng, mail.body) if rng.random() < 0.7 else None
    checker.expect('body changed', False, signature, header,
                   body_changed or mail.body + b'x\r\n')

    signed = [i for i, (name, _) in enumerate(header) if name.lower() in SIGNED]
    i = rng.choice(signed)
    name, text = header[i]
    other = changed(rng, text) or text + b'x'
    checker.expect('field changed', False, signature, header[:i] + [(name, other)]
                   + header[i + 1:], mail.body)
    checker.expect('field taken out', False, signature, header[:i] + header[i + 1:], mail.body)
    checker.expect('From added', False, signature, [(b'From', b' evil@example.net')] + header,
                   mail.body)
    added = rng.choice(SIGNED_ALWAYS[1:])
    checker.expect('field added', False, signature, [(added, b' x')] + header, mail.body)
    # The last digit of base64 may have bits of no meaning.
    at, end = signature.index(b'd='), len(signature) - 6
    own = signature[:at] + changed(rng, signature[at:end]) + signature[end:]
    checker.expect('signature changed', False, own, header, mail.body)


def check_lines(checker, signature):
    ok = all(len(text) <= 78 for text in signature.split(b'\r\n'))
    checker.counts['with lines in the limit'] += ok
    checker.wrong += not ok


def check_algorithm(program, keys, kind, all_mails):
    begin = time.monotonic()
    rng = random.Random(SEED + 1)
    checker = Checker(keys)
    for mail, signature in zip(all_mails, sign(program, keys.list(kind), all_mails, 1528637909)):
        check_lines(checker, signature)
        check_mail(checker, rng, mail, signature)
    checker.report(kind + '-sha256', time.monotonic() - begin)
    return checker.wrong


def check_both(program, keys, all_mails):
    """Two keys of a domain: two fields, each of which verifies."""
    begin = time.monotonic()
    checker = Checker(keys)
    some = all_mails[:100]
    for mail, signature in zip(some, sign(program, keys.list('rsa', 'ed25519'), some, 1528637909)):
        for index in 0, 1:
            checker.expect('as sent', True, signature, mail.prefix + mail.fields, mail.body, index)
    checker.report('both at once', time.monotonic() - begin)
    return checker.wrong


def bench(program, keys):
    text = (b'From: a@example.org\r\nTo: b@example.net\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n'
            b'Content-Type: text/plain; charset=utf-8\r\n\r\n')
    for size in 2000, 1000000:
        mail = text + b'These are the words of a line that has seventy-two of them.\r\n' * (size
                                                                                          // 61)
        for kind in 'rsa', 'ed25519':
            out = subprocess.run([program, keys.list(kind), '--bench', '2'],
                                 input=b'0 %d\n' % len(mail) + mail, stdout=subprocess.PIPE,
                                 check=True).stdout
            print('%-8s %s' % (kind, out.decode().strip()))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        keys = Keys(directory)
        if sys.argv[2:] == ['--bench']:
            bench(program, keys)
            return 0
        all_mails = mails()
        wrong = [check_algorithm(program, keys, kind, all_mails) for kind in ('rsa', 'ed25519')]
        wrong.append(check_both(program, keys, all_mails))
        return 1 if any(wrong) else 0


if __name__ == '__main__':
    sys.exit(main())
