"""Messages of all kinds, the same for the same seed."""
import os
import random
from dataclasses import dataclass, field
from typing import Optional

# First and last code point of letters of many scripts.
SCRIPTS = [
    (0x00C0, 0x00FF), (0x0100, 0x017F), (0x0370, 0x0373), (0x0391, 0x03A1), (0x0410, 0x044F),
    (0x0531, 0x0556), (0x05D0, 0x05EA), (0x0620, 0x064A), (0x0905, 0x0939), (0x0985, 0x098C),
    (0x0B85, 0x0B8A), (0x0E01, 0x0E2E), (0x10D0, 0x10F0), (0x1200, 0x1248), (0x1E00, 0x1EFF),
    (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1D400, 0x1D454),
    (0x20000, 0x2A6DF), (0x1F600, 0x1F64F), (0x1F300, 0x1F5FF),
]
# Sequences that are one sign for a reader: joined, with marks, flags, keycaps.
SIGNS = ['👩\u200d👩\u200d👧\u200d👦', '🏳️\u200d🌈', '👍🏽', '🇩🇪', '1️⃣', 'e\u0301',
         'n\u0303\u0323', '\u00ad', '\u200f', '\u00a0', '\u3000', '\u2003', '\ufeff', '€', '—',
         '„“', '✓']
WORDS = ('the of and to in is you that it he was for on are as with his they at be this have from '
         'or one had by word but not what all were we when your can said there use an each which '
         'a.b x=y 50% [tag] (note) <b> "quoted" it\'s re: a@b.example https://example.org/?a=b&c '
         '=?utf-8?Q?x?= =? ?= =_ _= -- , ; : \\ \\" ~ ^ | {} $1 #2 *3* `').split()
ASCII_NAME = 'abcXYZ019 .-_+,;=()[]{}!@#$%&\'"^`~'
TYPES = ['', 'image/png', 'application/pdf', 'text/csv; charset=utf-8', 'text/plain;charset=utf-8',
         'text/html; charset="utf-8"', 'application/zip', 'audio/x-wav', 'text/calendar; '
         'method=REQUEST; charset=utf-8',
         'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
         'application/x-thing; note="a; b \\" c"; other=' + 'x' * 60]
DOMAINS = ['example.org', 'a.example', 'mail-1.sub.example.net', '[192.0.2.1]',
           '[IPv6:2001:db8::1]', 'x' * 63 + '.' + 'y' * 60 + '.example']
METHODS = ['REQUEST', 'PUBLISH', 'CANCEL', 'REPLY']
IDN = ('bücher.example', 'xn--bcher-kva.example')
HEADERS = ['X-Tag', 'X-Campaign', 'Comments', 'Keywords', 'Organization',
           'X-A-Rather-Long-Header-Name', 'Auto-Submitted', 'List-Id', 'Precedence']


@dataclass
class Address:
    name: str
    address: str
    apart: bool = False

    @property
    def wire(self):
        """As it stands in the message."""
        return self.address.replace(*IDN)


@dataclass
class Part:
    name: str
    type: str
    cid: str
    data: bytes
    path: Optional[str] = None


@dataclass
class Message:
    sender: Address = None
    to: list = field(default_factory=list)
    cc: list = field(default_factory=list)
    bcc: list = field(default_factory=list)
    reply_to: list = field(default_factory=list)
    subject: str = ''
    text: Optional[str] = None
    html: Optional[str] = None
    calendar: Optional[str] = None
    headers: list = field(default_factory=list)
    parts: list = field(default_factory=list)
    unsubscribe: list = field(default_factory=list)
    message_id: str = ''
    date: int = 0


class Generator:
    def __init__(self, seed, directory, idn):
        self.random = random.Random(seed)
        self.directory = directory
        self.idn = idn
        self.count = 0
        self.composed = []  # earlier messages, to be attached

    def remember(self, raw):
        if len(raw) < 20000:
            self.composed.append(raw)
            del self.composed[:-50]

    # ---- texts ----

    def letters(self, most):
        first, last = self.random.choice(SCRIPTS)
        n = self.random.randint(1, most)
        return ''.join(chr(self.random.randint(first, last)) for _ in range(n))

    def word(self):
        kind = self.random.random()
        if kind < 0.6:
            return self.random.choice(WORDS)
        if kind < 0.85:
            return self.letters(12)
        if kind < 0.9:
            return self.random.choice(SIGNS)
        if kind < 0.93:
            return self.letters(3) + self.random.choice(WORDS) + self.random.choice(SIGNS)
        if kind < 0.94:
            return self.random.choice('abc') * self.random.randint(60, 300)
        return ''.join(self.random.choices('abcdefghij', k=self.random.randint(1, 30)))

    def ascii_words(self, n):
        plain = [word for word in WORDS if '=?' not in word]
        return ' '.join(self.random.choice(plain) for _ in range(n))

    def line(self):
        """Text for a header: words, or characters up to each place where a line may end."""
        kind = self.random.random()
        if kind < 0.05:
            return ''
        if kind < 0.3:
            return self.ascii_words(self.random.randint(1, 40))
        if kind < 0.5:
            sign = self.random.choice(['ä', '€', '😀', self.random.choice(SIGNS), self.letters(1)])
            return 'a' * self.random.randint(0, 80) + sign * self.random.randint(1, 60)
        if kind < 0.55:
            return self.random.choice(['a', 'ä', '日']) * self.random.randint(70, 700)
        spaces = ' ' if kind < 0.9 else ' ' * self.random.randint(1, 4)
        text = spaces.join(self.word() for _ in range(self.random.randint(1, 25)))
        return (spaces + text + spaces) if kind > 0.97 else text

    def body(self):
        kind = self.random.random()
        if kind < 0.06:
            return ''
        if kind < 0.1:
            return self.random.choice(['\n', '\r\n', '\r', '\n\n\n', 'x', ' ', '\t', '.', 'From x'])
        ends = self.random.choice([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r']])
        words = self.word if self.random.random() < 0.7 else lambda: self.random.choice(WORDS)
        lines = []
        for _ in range(self.random.randint(1, 40)):
            line = ' '.join(words() for _ in range(self.random.randint(0, 14)))
            lines.append(self.random.choices(
                [line, 'From ' + line, '.' + line, line + ' ', line + '\t', '-- ', '\x1b[0m' + line,
                 '\x7f' + line, '--=_1_0123456789abcdef',
                 'x' * self.random.choice([997, 998, 999, 1000, 2100])],
                [60, 1, 1, 1, 1, 1, 1, 0.3, 1, 0.5])[0])
        text = ''.join(line + self.random.choice(ends) for line in lines)
        return text if self.random.random() < 0.7 else text.rstrip('\r\n')

    def calendar(self):
        """An invitation with folded lines (RFC 5545, 3.1)."""
        end = self.random.choice(['\r\n', '\n'])
        summary = 'SUMMARY:' + ' '.join(self.word() for _ in range(self.random.randint(0, 30)))
        lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'METHOD:' + self.random.choice(METHODS),
                 'BEGIN:VEVENT', *(summary[i:i + 70] for i in range(0, len(summary), 70)),
                 'END:VEVENT', 'END:VCALENDAR']
        first = next(i for i, line in enumerate(lines) if line.startswith('SUMMARY:'))
        for i in range(first + 1, len(lines) - 2):
            lines[i] = ' ' + lines[i]
        return end.join(lines) + self.random.choice(['', end])

    # ---- addresses ----

    def name(self):
        kind = self.random.random()
        if kind < 0.25:
            return ''
        if kind < 0.4:
            return self.random.choice(['Ann', 'Ann Example', 'J. Doe', 'O\'Neil, Pat', 'a "b" c',
                                       'back\\slash', 'at@sign', '(x)', '=?utf-8?Q?no?=', 'a  b',
                                       'Müller, Jörg', '"', '<>', ';', 'a:b', '.', '😀'])
        if kind < 0.5:
            return self.ascii_words(self.random.randint(1, 20)).strip()
        return ' '.join(self.word() for _ in range(self.random.randint(1, 8))).strip()

    def address(self):
        kind = self.random.random()
        local = ''.join(self.random.choices('abcdefghijklmnopqrstuvwxyz0123456789',
                                            k=self.random.randint(1, 20)))
        if kind < 0.1:
            local = local[:4] + ''.join(self.random.choices('!#$%&\'*+/=?^_`{|}~-', k=6)) + '.z'
        elif kind < 0.13:
            local = local[0] * 64
        elif kind < 0.135:
            local += self.letters(3)
        domain = self.random.choice(DOMAINS if self.random.random() < 0.3 else DOMAINS[:2])
        if self.idn and self.random.random() < 0.03:
            domain = IDN[0]
        apart = self.random.random() < 0.5
        return Address(self.name(), '%s@%s' % (local, domain), apart)

    def addresses(self, most):
        return [self.address() for _ in range(self.random.randint(0, most))]

    # ---- parts ----

    def file_name(self):
        kind = self.random.random()
        if kind < 0.15:
            return ''
        if kind < 0.4:
            return self.random.choice(['a.pdf', 'logo.png', 'report (1).txt', '.hidden', 'a',
                                       '%41.txt', 'it\'s.txt', 'say "x".txt', '"x"', '...',
                                       '=?utf-8?Q?x?=.txt', 'a;b=c.txt', 'Größe.pdf',
                                       '日本語.docx', '😀.gif', 'utf-8\'\'x', '*0*'])
        if kind < 0.6:
            text = ''.join(self.random.choices(ASCII_NAME, k=self.random.randint(1, 220)))
        else:
            text = ' '.join(self.word() for _ in range(self.random.randint(1, 12)))
        text = text.translate({ord('/'): '-', ord('\\'): '-'}).strip()
        return 'x' if text in ('', '.', '..') else text

    def content(self):
        size = self.random.choice([0, 1, 2, 3, 56, 57, 58, self.random.randint(4, 200),
                                   self.random.randint(200, 6000)])
        return self.random.randbytes(size)

    def message_content(self):
        """Something that may stand in a message/rfc822, or may not."""
        kind = self.random.random()
        if kind < 0.5 and self.composed:
            return self.random.choice(self.composed)
        head = b'From: a@example.org\nSubject: forwarded\n\n'
        if kind < 0.8:
            return head + b'8-bit: \xc3\xa4\n' * self.random.randint(0, 3)
        return head + self.random.choice([b'\0', b'a\rb', b'x' * 999, b'x' * 998])

    def part(self, cid=''):
        part = Part(self.file_name(), self.random.choice(TYPES), cid, self.content())
        kind = self.random.random()
        if cid:
            part.type = self.random.choice(['image/png', 'image/gif', 'image/svg+xml'])
        elif kind < 0.06:
            part.type = 'message/rfc822'
            part.data = self.message_content()
        elif part.type.startswith('text/'):
            part.data = self.body().encode()
        if self.random.random() < 0.15:
            self.to_file(part)
        return part

    def to_file(self, part):
        self.count += 1
        part.path = os.path.join(self.directory, str(self.count % 40))
        with open(part.path, 'wb') as file:
            file.write(part.data)

    def parts(self, message):
        if message.html is not None and self.random.random() < 0.4:
            for i in range(self.random.randint(1, 6)):
                cid = self.random.choice(['logo%d', 'img-%d@example.org', 'a.b_c+%d']) % i
                message.html += '<img src="cid:%s">\n' % cid
                message.parts.append(self.part(cid))
        if self.random.random() < 0.5:
            most = 20 if self.random.random() < 0.1 else 4
            message.parts += [self.part() for _ in range(self.random.randint(0, most))]
        self.random.shuffle(message.parts)

    # ---- whole ones ----

    def header(self):
        name = self.random.choice(HEADERS)
        if self.random.random() < 0.2:
            name = self.random.choice(['References', 'In-Reply-To'])
            ids = ['<%s@example.org>' % ('i' * self.random.randint(1, 200)) for _ in range(5)]
            return name, ' '.join(ids[:self.random.randint(1, 5)])
        return name, self.line().strip(' ')

    def message(self, number):
        message = Message(sender=self.address(), subject=self.line())
        message.to, message.cc = self.addresses(4), self.addresses(2)
        message.bcc, message.reply_to = self.addresses(2), self.addresses(2)
        if self.random.random() < 0.01:
            message.to += [self.address() for _ in range(150)]
        if not message.to + message.cc + message.bcc:
            message.to = [self.address()]
        kind = self.random.random()
        message.text = self.body() if kind < 0.65 else None
        message.html = '<p>' + self.body() if kind > 0.3 else None
        headers = [self.header() for _ in range(self.random.randint(0, 3))]
        once = {name: (name, value) for name, value in headers}
        message.headers = list(once.values())
        if self.random.random() < 0.3:
            message.unsubscribe = ['https://example.org/' + 'u' * self.random.randint(1, 200),
                                   'mailto:unsubscribe@example.org'][:self.random.randint(1, 2)]
        message.message_id = '<%d.%s@example.org>' % (number, 'q' * self.random.randint(1, 80))
        message.date = self.random.randint(0, 4102444800)
        self.parts(message)
        if self.random.random() < 0.1:
            message.calendar = self.calendar()
        return message

    def large(self, number, kind):
        """20 MB: from memory, from a file, as a message that must not be encoded, as a text."""
        message = self.message(number)
        data = self.random.randbytes(1 << 20) * 20
        part = Part('large.bin', '', '', data)
        if kind == 1:
            self.to_file(part)
        elif kind == 2:
            part.type = 'message/rfc822'
            part.data = b'Subject: large\n\n' + (b'line of text %d\n' % number) * (1 << 20)
        message.parts.append(part)
        return message
