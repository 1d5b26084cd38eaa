"""Messages as careless programs write them, and what Python's email package reads in what they
became. `repair.py make` prints 300 as a JSON list of base64; `repair.py check` takes the list of what
was stored on its input."""
import base64
import email
import email.policy
import json
import random
import sys

WORDS = ['Grüße', 'an', 'alle', 'Köln', 'x' * 60, 'ok?', 'über', 'élan', 'a=b', '=C3=B6', 'daß',
         'two  spaces', '"quoted"', 'Ä']
WIDE = ['日本語', '😀', 'Ελλάδα', 'Größe', 'plain']


class Message:
    """What a reader must find, and the bytes of it."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.charset = self.random.choice(['utf-8', 'iso-8859-1', 'windows-1252'])
        self.subject = self.words(self.random.choice([1, 5, 40, 400]))
        self.name = self.words(self.random.choice([1, 2, 3])).replace('"', "'")
        self.leaves = []   # (name, bytes)
        self.raw = self.build()

    def words(self, count):
        choices = WORDS + WIDE if self.charset == 'utf-8' else WORDS
        return ' '.join(self.random.choice(choices) for _ in range(count)).strip()

    def text(self):
        """Lines of all lengths, a long one at least in every second text."""
        lines = [self.words(self.random.choice([0, 1, 10, 300])) for _ in
                 range(self.random.randint(1, 4))]
        lines.append(self.random.choice(['', '.', 'From here ' + 'y' * 1200, 'end ']))
        return '\r\n'.join(lines).encode(self.charset)

    def leaf(self, last):
        """Header lines and body of a part. The last line end is the multipart's own."""
        kind = self.random.choice(['text', 'text', 'base64', 'quoted', 'file'])
        head, name = '', None
        content = self.text() + (b'\r\n' if last else b'')
        body = content
        if kind == 'base64':
            content = bytes(self.random.randrange(256) for _ in range(1500))
            body = base64.b64encode(content)
            head = 'Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n'
        elif kind == 'quoted':
            body = b''.join(b'=%02X' % c if c > 126 or c == 61 else bytes([c]) for c in content)
            head = 'Content-Type: text/html; charset=%s\r\n' \
                   'Content-Transfer-Encoding: quoted-printable\r\n' % self.charset
            content = b'\r\n'.join(line.rstrip(b' ') for line in content.split(b'\r\n'))
            body = b'\r\n'.join(line.rstrip(b' ') for line in body.split(b'\r\n'))
        else:
            head = 'Content-Type: text/plain; charset=%s\r\n' % self.charset
            if kind == 'file':
                name = ('Größe %d.txt' if last else 'b%d.txt') % len(self.leaves)
                head = head[:-2] + '; name="%s"\r\n' \
                    'Content-Disposition: attachment; filename="%s"\r\n' % (name, name)
        if last and not body.endswith(b'\r\n'):
            body += b'\r\n'
        self.leaves.append((name, content))
        return head.encode(self.charset) + b'\r\n' + body

    def multipart(self, depth):
        boundary = '=_%d_%d' % (depth, self.random.randrange(10 ** 6))
        head = 'Content-Type: multipart/mixed;\r\n\tboundary="%s"\r\n\r\n' % boundary
        parts = []
        for _ in range(self.random.randint(1, 4)):
            nested = depth < 3 and self.random.random() < 0.3
            parts.append(self.multipart(depth + 1) if nested else self.leaf(False))
        delimiter = b'\r\n--' + boundary.encode()
        around = ('p' * self.random.choice([10, 1500])).encode()
        return head.encode() + around + b''.join(delimiter + b'\r\n' + part for part in parts) \
            + delimiter + b'--\r\n'

    def build(self):
        fields = 'From: "%s" <a@example.org>\r\nTo: b@example.net (%s), %s <c@example.net>\r\n' \
            'Subject: %s\r\nX-Charset: %s\r\nMIME-Version: 1.0\r\n' % (
                self.name.replace('"', '\\"'), 'Größe', self.random.choice(['Ö', 'O']),
                self.subject, self.charset)
        body = self.leaf(True) if self.random.random() < 0.5 else self.multipart(1)
        return fields.encode(self.charset) + body


def same(what, found, expected):
    if found != expected:
        raise AssertionError('%s: %r instead of %r' % (what, found, expected))


def squeezed(text):
    """Python keeps the white space between two encoded words of a name."""
    return ''.join(text.split())


def check(message, raw):
    lines = raw.split(b'\r\n')
    same('lines', [line for line in lines if len(line) > 998 or b'\r' in line or b'\n' in line], [])
    head = raw.partition(b'\r\n\r\n')[0]
    same('ASCII', head.isascii(), True)
    parsed = email.message_from_bytes(raw, policy=email.policy.SMTP)
    same('subject', ' '.join(str(parsed['Subject']).split()), ' '.join(message.subject.split()))
    same('from', [(squeezed(a.display_name), a.addr_spec) for a in parsed['From'].addresses],
         [(squeezed(message.name), 'a@example.org')])
    same('to', [a.addr_spec for a in parsed['To'].addresses], ['b@example.net', 'c@example.net'])
    leaves = [part for part in parsed.walk() if not part.is_multipart()]
    same('parts', len(leaves), len(message.leaves))
    for part, (name, content) in zip(leaves, message.leaves):
        same('defects', part.defects, [])
        same('name', part.get_filename(), name)
        same('name of the type', part.get_param('name') and part['Content-Type'].params['name'], name)
        fields = [part[field] for field in ('Content-Type', 'Content-Disposition') if field in part]
        same('defects of fields', [d for field in fields for d in field.defects], [])
        same('content', part.get_payload(decode=True), content)
    return len(leaves)


def main():
    messages = [Message(number) for number in range(300)]
    if sys.argv[1] == 'make':
        print(json.dumps([base64.b64encode(m.raw).decode() for m in messages]))
        return
    stored = [base64.b64decode(text) for text in json.load(sys.stdin)]
    same('messages', len(stored), len(messages))
    parts = 0
    for number, (message, raw) in enumerate(zip(messages, stored)):
        try:
            parts += check(message, raw)
        except Exception as error:
            print('message %d (%s): %s' % (number, message.charset, str(error)[:1000]))
    long_lines = sum(any(len(line) > 998 for line in m.raw.split(b'\r\n')) for m in messages)
    print('%d messages, %d with long lines, %d parts' % (len(messages), long_lines, parts))


main()
