#!/usr/bin/env python3
"""Composes generated messages and reads them with Python's email package and a small reader of our
own: the same fields and bytes come back, without defects, in lines within the limits.

    make -C tests/mime && python3 tests/mime/roundtrip.py [--count N] [--seed N] [--program FILE]
"""
import argparse
import multiprocessing
import os
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from check import Check, Mismatch
from generate import IDN, Address, Generator, Message

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, '.build', 'mime', 'roundtrip')
LARGE = {400: 0, 801: 1, 1200: 2}  # messages with a part of 20 MB
SHARES = 2  # processes, each with messages of its own


class Composer:
    """The program that composes: one message in, one out."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def records(self, message):
        lists = [('F', [message.sender]), ('T', message.to), ('C', message.cc), ('B', message.bcc),
                 ('R', message.reply_to)]
        for letter, addresses in lists:
            for address in addresses:
                yield letter, as_written(address).encode()
        yield 'S', message.subject.encode()
        if message.text is not None:
            yield 'X', message.text.encode()
        if message.html is not None:
            yield 'H', message.html.encode()
        if message.calendar is not None:
            yield 'K', message.calendar.encode()
        for name, value in message.headers:
            yield 'h', ('%s\0%s' % (name, value)).encode()
        for part in message.parts:
            yield 'P', ('%s\0%s\0%s' % (part.name, part.type, part.cid)).encode()
            yield ('O', part.path.encode()) if part.path else ('D', part.data)
        for uri in message.unsubscribe:
            yield 'U', uri.encode()
        yield 'I', message.message_id.encode()
        yield 'd', b'%d' % message.date
        yield 'E', b''

    def read(self):
        size, = struct.unpack('<I', self.process.stdout.read(4))
        return self.process.stdout.read(size)

    def compose(self, message):
        """The message and the lines of the envelope; raises Mismatch where it was refused."""
        for letter, data in self.records(message):
            self.process.stdin.write(letter.encode() + struct.pack('<I', len(data)) + data)
        self.process.stdin.flush()
        status = self.process.stdout.read(1)
        if not status:
            sys.exit('the composer ended with %d' % self.process.wait())
        raw, envelope = self.read(), self.read()
        if status != b'\0':
            raise Mismatch('refused: ' + raw.decode())
        return raw, envelope.decode().split('\n')


def as_written(address):
    if address.apart:
        return '%s\0%s' % (address.name, address.address)
    if not address.name:
        return address.address
    quoted = address.name.replace('\\', '\\\\').replace('"', '\\"')
    return '"%s" <%s>' % (quoted, address.address)


def has_idn(composer):
    """Whether the program was built with libidn2."""
    message = Message(sender=Address('', 'a@' + IDN[0]), text='', message_id='<1@x.example>')
    message.to = [message.sender]
    try:
        composer.compose(message)
    except Mismatch:
        return False
    return True


def run(options, share):
    """Every other message: what was counted, and how many failed."""
    with tempfile.TemporaryDirectory() as directory:
        composer = Composer(options.program)
        generator = Generator(options.seed + share, directory, has_idn(composer))
        check = Check()
        failed = 0
        for number in range(share, options.count, SHARES):
            large = LARGE.get(number)
            message = (generator.message(number) if large is None
                       else generator.large(number, large))
            raw = b''
            try:
                raw, envelope = composer.compose(message)
                check.message(message, raw, envelope)
                generator.remember(raw)
            except Mismatch as error:
                failed += 1
                print('message %d: %s' % (number, error), flush=True)
                keep(options, number, raw)
            if failed == 20:
                break
        return check, failed


def keep(options, number, raw):
    if options.keep:
        with open(os.path.join(options.keep, '%d.eml' % number), 'wb') as file:
            file.write(raw)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--program', default=PROGRAM)
    parser.add_argument('--keep', help='a directory for the messages that fail')
    options = parser.parse_args()
    begun = time.monotonic()
    with multiprocessing.Pool(SHARES) as pool:
        results = pool.starmap(run, [(options, share) for share in range(SHARES)])
    failed = sum(number for _, number in results)
    figures = Check()
    for check, _ in results:
        figures.add(check)
    for what, number in figures.figures():
        print('%9s %s' % (number, what))
    print('%9.1f seconds' % (time.monotonic() - begun))
    enough = figures.counts['messages'] + failed == options.count
    print('ok: all came back as they were' if enough and not failed
          else 'FAILED: %d messages' % failed)
    return 0 if enough and not failed else 1


if __name__ == '__main__':
    sys.exit(main())
