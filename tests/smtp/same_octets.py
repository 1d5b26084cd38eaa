"""Whether two messages say the same: same_octets.py DIRECTORY, with pairs NAME.sent and NAME.got.

Same tree of parts, types, names, and octets of each part once it is decoded. The one that was
received must be ASCII, with no line over 998 octets."""

import email
import email.policy
import pathlib
import re
import sys


def file_name(message):
    for field, value in message.raw_items():
        raw = value.encode("ascii", "surrogateescape")
        if field.lower() == "content-disposition" and not raw.isascii():
            return re.search('filename="(.*?)"', raw.decode())[1]
    return message.get_filename()


def describe(message):
    kind = message.get_content_type()
    name = file_name(message)
    if message.is_multipart():
        return (kind, name, [describe(part) for part in message.get_payload()])
    return (kind, name, message.get_payload(decode=True).replace(b"\r\n", b"\n"))


def main():
    bad = 0
    for sent in sorted(pathlib.Path(sys.argv[1]).glob("*.sent")):
        got = sent.with_suffix(".got").read_bytes()
        before, after = (describe(email.message_from_bytes(text, policy=email.policy.compat32))
                         for text in (sent.read_bytes(), got))
        wrong = []
        if before != after:
            wrong.append(f"differs:\n  {before}\n  {after}")
        if not got.isascii():
            wrong.append("is not ASCII")
        if any(len(line) > 998 for line in got.split(b"\r\n")):
            wrong.append("has a long line")
        if wrong:
            bad += 1
            print(sent.stem, "; ".join(wrong))
    print("bad:", bad)


main()
