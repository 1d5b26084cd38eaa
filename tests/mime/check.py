"""What must be true of a composed message."""
import email
import email.policy
import re
from collections import Counter
from email.header import decode_header, make_header
from email.headerregistry import HeaderRegistry
from email.utils import getaddresses
from functools import lru_cache
from html.parser import HTMLParser

from reader import Broken, Entity, decode

# Python parses a field at each access.
PARSED = lru_cache(1000)(HeaderRegistry())
# A defect of a message or part is raised; those of fields are looked for.
SMTP = email.policy.SMTP.clone(header_factory=PARSED, raise_on_defect=True)
SMTPUTF8 = email.policy.SMTPUTF8.clone(header_factory=PARSED, raise_on_defect=True)


class Mismatch(Exception):
    """A message did not come back as it was."""


def same(what, found, expected):
    if found != expected:
        raise Mismatch('%s: found %.300r, expected %.300r' % (what, found, expected))


def canonical(text):
    """With CRLF line ends, the last line too."""
    text = re.sub('\r\n|\r|\n', '\r\n', text)
    return text if text == '' or text.endswith('\r\n') else text + '\r\n'


def sendable(data):
    """Whether a message may go as it is."""
    lines = data.replace(b'\r\n', b'\n')
    return not re.search(rb'\r|\0|[^\n]{999}', lines)


def leaf_type(part):
    if part.type == 'message/rfc822' and not sendable(part.data):
        return 'application/octet-stream'
    return part.type.partition(';')[0].lower() or 'application/octet-stream'


def in_ascii(name):
    """The name that old readers get: "_" for what is none of ASCII, and its end if it is long."""
    if not re.search(r'=\?|\?=|[^ -~]', name) and len(re.sub(r'"', '""', name)) <= 67:
        return name
    return re.sub(r'([^ -~]|["?\\])+', '_', name)[-67:]


class Shown(HTMLParser):
    """The text of HTML."""

    def __init__(self):
        super().__init__()
        self.text = ''

    def handle_data(self, data):
        self.text += data


def shows_something(html):
    parser = Shown()
    parser.feed(html)
    parser.close()
    return parser.text.strip() != ''


class Check:
    def __init__(self):
        self.counts = Counter()
        self.longest = Counter()
        self.makes_text = None  # whether this build makes text from HTML

    def add(self, other):
        self.counts.update(other.counts)
        for what, octets in other.longest.items():
            self.longest[what] = max(octets, self.longest[what])

    def figures(self):
        for what in sorted(self.counts):
            yield what, self.counts[what]
        for what in sorted(self.longest):
            yield 'octets in the longest ' + what, self.longest[what]

    def message(self, message, raw, envelope):
        try:
            entity = Entity(raw)
            self.wire(raw, entity)
            leaves = self.shape(message, entity)
            self.read_by_us(message, entity, leaves)
        except (Broken, ValueError) as error:
            raise Mismatch('our reader: %s' % error) from error
        self.envelope(message, entity, envelope)
        self.read_by_python(message, raw, entity, leaves)
        self.counts['messages'] += 1
        self.counts['bytes'] += len(raw)

    # ---- bytes and lines ----

    def wire(self, raw, entity):
        if not raw.endswith(b'\r\n') or re.search(rb'\r(?!\n)|(?<!\r)\n|\0', raw):
            raise Mismatch('line ends are not CRLF, or there is a NUL')
        eight_bit = any(part.encoding == '8bit' for part in entity.walk())
        if not eight_bit and not raw[raw.index(b'\r\n\r\n'):].isascii():
            raise Mismatch('the body has 8-bit bytes')
        for part in entity.walk():
            for line in part.lines:
                self.header_line(line)
            if not part.parts:
                self.body_lines(part)

    def header_line(self, line):
        """At most 78; 76 with encoded words; 998 where it cannot be folded. A line is not folded
        after the field's name: many readers take that fold for a part of the value."""
        limit = 78
        if b'=?utf-8?' in line:
            limit = 76
        elif not re.search(rb'[ \t]', re.sub(rb'^([!-9;-~]+: |[ \t]+)', b'', line)):
            limit = 998
        if len(line) > limit or not line.strip():
            raise Mismatch('header line of %d: %.200r' % (len(line), line))
        if limit < 998:
            self.longest['header line that can be folded'] = max(
                len(line), self.longest['header line that can be folded'])

    def body_lines(self, part):
        encoded = part.encoding in ('base64', 'quoted-printable')
        longest = max(len(line) for line in part.body.split(b'\r\n'))
        if longest > (76 if encoded else 998):
            raise Mismatch('body line of %d in %s' % (longest, part.encoding))
        if part.encoding == 'quoted-printable' and re.search(rb'[ \t]\r\n|(^|\n)(\.|From )',
                                                             part.body):
            raise Mismatch('quoted-printable that relays change')
        what = 'line in ' + part.encoding
        self.longest[what] = max(longest, self.longest[what])

    # ---- structure ----

    def has_text(self, message, entity):
        """Whether there is a text part; one is made of HTML that shows something."""
        if message.text is not None:
            return True
        found = any(part.type == 'multipart/alternative' and part.parts[0].type == 'text/plain'
                    for part in entity.walk())
        if self.makes_text is None and shows_something(message.html):
            self.makes_text = found
            self.counts['text made from HTML'] = 0
        if self.makes_text:
            # Of broken HTML libxml2 may show more.
            same('text made from HTML', found or not shows_something(message.html), True)
        self.counts['text made from HTML'] += found
        return found

    def shape(self, message, entity):
        """Checks that multiparts are there only as needed. Returns pairs of a leaf and its source,
        'text', 'html' or a part."""
        shown = [part for part in message.parts if part.cid]
        attached = [part for part in message.parts if not part.cid]
        tree = 'text'
        if message.html is not None:
            tree = ['related', 'html', *shown] if shown else 'html'
            if self.has_text(message, entity):
                tree = ['alternative', 'text', tree]
        if message.calendar is not None:
            inner = tree if tree[0] == 'alternative' else ['alternative', tree]
            tree = [*inner, 'calendar']
        if attached:
            tree = ['mixed', tree, *attached]
        leaves = []
        self.match(entity, tree, leaves)
        return leaves

    def match(self, entity, tree, leaves):
        if isinstance(tree, list):
            same('multipart', entity.type, 'multipart/' + tree[0])
            same('parts of ' + tree[0], len(entity.parts), len(tree) - 1)
            for part, inner in zip(entity.parts, tree[1:]):
                self.match(part, inner, leaves)
            return
        expected = {'text': 'text/plain', 'html': 'text/html',
                    'calendar': 'text/calendar'}.get(tree) if isinstance(tree, str) \
            else leaf_type(tree)
        same('type', entity.type, expected)
        leaves.append((entity, tree))
        self.counts['parts'] += 1
        self.counts['parts in ' + entity.encoding] += 1

    def expected_content(self, message, source):
        """The bytes of a leaf; None for a text that the build made."""
        if isinstance(source, str):
            text = getattr(message, source)
            return None if text is None else canonical(text).encode()
        if leaf_type(source) == 'message/rfc822':
            return re.sub(rb'(?<!\r)\n', b'\r\n', source.data)
        return source.data

    # ---- our own reader ----

    def read_by_us(self, message, entity, leaves):
        same('names of fields', [name for name, _ in entity.fields], self.names(message, entity))
        subject = decode(dict(map(tuple, entity.fields))['Subject'].decode()[1:])
        same('subject', subject, message.subject)
        for name, value in message.headers:
            same(name, decode(entity.get(name)), value)
        same('Message-ID', entity.get('Message-ID'), message.message_id)
        for part, source in leaves:
            expected = self.expected_content(message, source)
            if expected is not None:
                same('content', part.content(), expected)
            if isinstance(source, str):
                self.as_it_is(part)
            else:
                same('file names', part.file_names(),
                     (source.name, source.name and in_ascii(source.name)))
                same('cid', part.get('Content-ID'), source.cid and '<%s>' % source.cid)

    def as_it_is(self, part):
        """A text goes as it is only where nobody changes it on its way."""
        if part.encoding == '7bit' and re.search(rb'[^\t\r\n -~]|[ \t]\r\n|(^|\n)From ', part.body):
            raise Mismatch('a text in 7bit that relays change')

    def names(self, message, entity):
        names = ['Date', 'From']
        names += ['Reply-To'] if message.reply_to else []
        names += ['To'] if message.to or not message.cc else []
        names += ['Cc'] if message.cc else []
        names += ['Subject', 'Message-ID'] + [name for name, _ in message.headers]
        names += ['List-Unsubscribe', 'List-Unsubscribe-Post'] if message.unsubscribe else []
        names += ['MIME-Version', 'Content-Type']
        single = not entity.parts or entity.encoding != '7bit'
        return names + (['Content-Transfer-Encoding'] if single else [])

    # ---- envelope ----

    def envelope(self, message, entity, envelope):
        seen = {}
        for address in message.to + message.cc + message.bcc:
            seen.setdefault(address.wire, address)
        same('envelope', envelope, [message.sender.wire, *seen])
        open_ones = {a.wire for a in message.to + message.cc + message.reply_to + [message.sender]}
        head = b'\n'.join(entity.lines)
        for address in message.bcc:
            if address.wire not in open_ones and re.search(
                    rb'(?<![^\s<,:])' + re.escape(address.wire.encode()) + rb'(?![^\s>,])', head):
                raise Mismatch('Bcc: %s is in the header' % address.wire)

    # ---- Python's email ----

    def parse(self, raw, entity):
        """Python reads raw UTF-8 in headers as bytes of an unknown charset; given as text they are
        what they are."""
        if b'\r\n'.join(entity.lines).isascii():
            return email.message_from_bytes(raw, policy=SMTP)
        self.counts['messages with UTF-8 addresses'] += 1
        return email.message_from_string(raw.decode('utf-8', 'surrogateescape'),
                                         policy=SMTPUTF8)

    def read_by_python(self, message, raw, entity, leaves):
        try:
            parsed = self.parse(raw, entity)
        except email.errors.MessageDefect as defect:
            raise Mismatch('defect: %r' % defect) from defect
        lists = {'From': [message.sender], 'Reply-To': message.reply_to, 'To': message.to,
                 'Cc': message.cc}
        for name, addresses in lists.items():
            self.addresses(name, parsed[name], entity.get(name), addresses)
        same('Date', int(parsed['Date'].datetime.timestamp()), message.date)
        for name, value in [('Subject', message.subject), ('Message-ID', message.message_id),
                            *message.headers]:
            same(name, str(parsed[name]), value)
        if message.unsubscribe:
            same('List-Unsubscribe', str(parsed['List-Unsubscribe']),
                 ', '.join('<%s>' % uri for uri in message.unsubscribe))
            same('List-Unsubscribe-Post', str(parsed['List-Unsubscribe-Post']),
                 'List-Unsubscribe=One-Click')
        found = list(walk(parsed))
        same('parts', len(found), sum(1 for _ in entity.walk()))
        for part in found:
            self.defects(part)
        for part, (_, source) in zip([p for p in found if is_leaf(p)], leaves):
            self.python_leaf(part, source, self.expected_content(message, source))
            if not isinstance(source, str):
                self.python_name(part, source.name)

    def addresses(self, name, found, text, addresses):
        """Python keeps the white space between two encoded words of a display name, against RFC
        2047 (6.2), and drops spaces of Unicode; its older functions do neither."""
        if not addresses:
            return
        expected = [(a.name, a.wire) for a in addresses]
        older = [(str(make_header(decode_header(name))), address)
                 for name, address in older_addresses(text)]
        same(name + ' (older)', older, expected)
        found = [(a.display_name, a.addr_spec) for a in found.addresses]
        spaces = any(re.search(r'[^\S ]', a.name) for a in addresses)
        if spaces or re.search(r'\?= +=\?', text):
            found, expected = without_spaces(found), without_spaces(expected)
            self.counts['address fields whose spaces Python does not keep'] += 1
        same(name, found, expected)

    def defects(self, part):
        """None. Only the local parts in UTF-8 that the generator gives to some (RFC 6532), Python
        takes for a defect by all of its policies."""
        same('defects', part.defects, [])
        for name, value in part.items():
            found = list(value.defects)
            if not str(value).isascii() and name in ('From', 'Reply-To', 'To', 'Cc'):
                raw = [a for a in value.addresses if not a.username.isascii()]
                meant = [d for d in found if isinstance(d, email.errors.NonASCIILocalPartDefect)]
                same('defects of local parts', len(meant), len(raw))
                found = [defect for defect in found if defect not in meant]
                self.counts['local parts in UTF-8, for Python a defect'] += len(raw)
            same('defects of %s: %.200s' % (name, value), found, [])

    def python_leaf(self, part, source, expected):
        if isinstance(source, str):
            same('charset', part.get_content_charset(), 'utf-8')
            if expected is not None:
                same('text', part.get_payload(decode=True), expected)
            if source == 'calendar':
                self.counts['calendars'] += 1
                same('method', 'METHOD:' + part.get_param('method'),
                     re.search('METHOD:.*', expected.decode())[0].strip())
            return
        disposition = 'inline' if source.cid else 'attachment'
        same('disposition', part.get_content_disposition(), disposition)
        if part.get_content_type() != 'message/rfc822':
            same('content', part.get_payload(decode=True), expected)

    def python_name(self, part, name):
        """The file name by all ways that there are. get_filename() takes quotes and angles off a
        name that begins and ends with them."""
        same('file name', part['Content-Disposition'].params.get('filename', ''), name)
        if name[:1] not in ('"', '<'):
            same('file name (older)', part.get_filename(''), name)
        fallback = name and in_ascii(name)
        same('name of the type', part['Content-Type'].params.get('name', ''), fallback)
        self.counts['file names with another one for old readers'] += fallback != name


def older_addresses(text):
    """Newer releases refuse address literals unless they are told not to be strict."""
    try:
        return getaddresses([text], strict=False)
    except TypeError:
        return getaddresses([text])


def without_spaces(pairs):
    return [(''.join(name.split()), address) for name, address in pairs]


def is_leaf(part):
    return part.get_content_maintype() != 'multipart'


def walk(part):
    """The message and its parts, without those of an attached message."""
    yield part
    if not is_leaf(part):
        for inner in part.iter_parts():
            yield from walk(inner)
