"""A small reader of messages that shares nothing with Python's email package: RFC 2045 to 2047 as
far as our composer uses them, and not a byte further."""
import base64
import quopri
import re

WORD = re.compile(r'=\?utf-8\?([QB])\?([^? ]*)\?=')


class Broken(Exception):
    """The bytes are not what the reader knows."""


class Entity:
    """A message or a part: header lines, fields, and its content or parts."""

    def __init__(self, raw):
        head, blank, self.body = raw.partition(b'\r\n\r\n')
        if not blank:
            raise Broken('a part has no empty line after its header')
        self.lines = head.split(b'\r\n')
        self.fields = []
        for line in self.lines:
            if line[:1] in b' \t':
                self.fields[-1][1] += line
            else:
                name, colon, value = line.partition(b':')
                if not colon or b' ' in name:
                    raise Broken('no header line: %r' % line)
                self.fields.append([name.decode(), value])
        self.parts = self.split() if self.type.startswith('multipart/') else []

    def get(self, name, default=''):
        for field, value in self.fields:
            if field.lower() == name.lower():
                return value.decode().strip(' ')
        return default

    @property
    def type(self):
        return self.get('Content-Type').partition(';')[0].lower()

    @property
    def encoding(self):
        return self.get('Content-Transfer-Encoding', '7bit')

    def split(self):
        """The parts of a multipart, without anything before, between or after them."""
        found = re.search(r'; *boundary="([^"]+)"', self.get('Content-Type'))
        if not found:
            raise Broken('a multipart without boundary')
        delimiter = b'\r\n--' + found[1].encode()
        first, *parts, last = (b'\r\n' + self.body).split(delimiter)
        if first or last not in (b'--', b'--\r\n'):
            raise Broken('something is around the parts')
        if any(part[:2] != b'\r\n' for part in parts):
            raise Broken('something stands after a boundary')
        return [Entity(part[2:]) for part in parts]

    def walk(self):
        yield self
        for part in self.parts:
            yield from part.walk()

    def content(self):
        if self.encoding == 'base64':
            return base64.b64decode(self.body.replace(b'\r\n', b''), validate=True)
        if self.encoding == 'quoted-printable':
            return quopri.decodestring(self.body)
        return self.body

    def file_names(self):
        """The name of the disposition, in quotes or by RFC 2231, and the type's in quotes."""
        text = self.get('Content-Disposition')
        sections = re.findall(r"; filename\*(?:(\d+)\*)?=(?:utf-8'')?([^; ]*)", text)
        if [number for number, _ in sections] not in ([''], [str(i) for i in range(len(sections))]):
            raise Broken('sections out of order: %s' % text)
        name = quoted('filename', text)
        if name and sections:
            raise Broken('two names: %s' % text)
        whole = ''.join(unpercent(value) for _, value in sections)
        return whole or name, quoted('name', self.get('Content-Type'))


def quoted(name, text):
    found = re.search(r'; %s="((?:[^"\\]|\\.)*)"' % name, text)
    return re.sub(r'\\(.)', r'\1', found[1]) if found else ''


def unpercent(text):
    return re.sub(rb'%([0-9A-F]{2})', lambda found: bytes([int(found[1], 16)]),
                  text.encode()).decode()


def decode(text):
    """Text with encoded words, each of whole characters; white space between two is dropped."""
    def word(found):
        if found[1] == 'B':
            return base64.b64decode(found[2], validate=True).decode()
        data = found[2].replace('_', ' ').encode()
        return re.sub(rb'=([0-9A-F]{2})', lambda found: bytes([int(found[1], 16)]), data).decode()
    text = re.sub(r'(\?=) +(?==\?utf-8\?[QB]\?[^? ]*\?=)', r'\1', text)
    return WORD.sub(word, text)
