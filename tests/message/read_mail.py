"""What Python's email package reads in the message on standard input: names, subject, text."""
import email
import email.policy
import sys

raw = sys.stdin.buffer.read()
mail = email.message_from_bytes(raw, policy=email.policy.SMTP)
sender = mail['From'].addresses[0]
text = mail.get_content().rstrip()
print('%s <%s>: %s' % (sender.display_name, sender.addr_spec, mail['Subject']))
print('to %s: %d characters, %s ... %s' % (mail['To'].addresses[0].display_name or 'nobody',
                                           len(text), text[:12].rstrip(), text[-10:]))
print('lines %s, headers %s' % (
    'short' if max(map(len, raw.splitlines())) < 999 else 'long',
    'ASCII' if raw.partition(b'\r\n\r\n')[0].isascii() else 'raw'))
