"""Python's smtplib as the client of `mailqueue sendmail -bs`, given as arguments."""
import email.message
import email.policy
import smtplib
import socket
import subprocess
import sys


class Pipe(smtplib.SMTP):
    """smtplib over a pair of sockets to a program, as inetd would start it."""

    def __init__(self, command):
        super().__init__()
        self.sock, theirs = socket.socketpair()
        self.sock.settimeout(30)
        self.program = subprocess.Popen(command, stdin=theirs, stdout=theirs)
        theirs.close()
        code, _ = self.getreply()
        assert code == 220, code


def message(subject, body, **how):
    mail = email.message.EmailMessage(policy=email.policy.SMTP)
    mail["From"] = "Zoë <zoe@example.org>"
    mail["To"] = "Ann <ann@example.net>, Bob <bob@example.net>"
    mail["Bcc"] = "secret@example.net"
    mail["Subject"] = subject
    mail.set_content(body, **how)
    return mail


client = Pipe(sys.argv[1:])
print(client.ehlo("client.test")[0], " ".join(sorted(client.esmtp_features)))
print("refused:", client.send_message(message("Grüße", ".dot\n..dots\n.\nend\n")))
print("refused:", client.sendmail("zoe@example.org", ["ann@example.net", "a@@b"],
                                  "Subject: two\r\n\r\nhi\r\n"))
try:
    client.sendmail("zoe@example.org", ["a@@b"], "Subject: none\r\n\r\nhi\r\n")
except smtplib.SMTPRecipientsRefused as e:
    print("all refused:", e.recipients["a@@b"][0])
try:
    client.sendmail("", ["ann@example.net"], "Subject: NUL\r\n\r\n\0\r\n")
except smtplib.SMTPDataError as e:
    print("message refused:", e.smtp_code)
try:
    client.send_message(message("large", "x" * 70 + "\n"), mail_options=["SIZE=99999999999"])
except smtplib.SMTPSenderRefused as e:
    print("too large:", e.smtp_code)
mail = message("UTF-8", "hi Zoë\n", cte="8bit")
del mail["From"]
mail["From"] = "zoë@example.org"
print("refused:", client.send_message(mail))
for i in range(50):
    client.sendmail("zoe@example.org", ["ann@example.net"], "Subject: %d\r\n\r\nhi\r\n" % i)
print(client.verify("ann")[0], client.noop()[0], client.rset()[0], client.docmd("HELP")[0])
print(client.quit()[0], client.program.wait())
