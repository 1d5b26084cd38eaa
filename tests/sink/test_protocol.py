"""RFC 5321 as the sink speaks it."""

import time

from sinktest import Client, Sink, code, fnv1a64, same, test, true


@test
def accepted_mail():
    with Sink() as sink:
        c = sink.client()
        c.envelope("from@example.org", ["a@example.org", '"b>c d"@example.org'])
        body = b"X-Test-Id:  t-1 \r\nSubject: x\r\n\r\n.dot\r\n..\r\n"
        started = time.time()
        c.send(body.replace(b"\r\n.", b"\r\n..") + b".\r\n")
        same("dot", code(c.reply()), "250")
        lines = sink.accepted()
        true("time", started - 1 < float(lines[0][0]) < started + 5)
        fields = [["1", "t-1", r, "from@example.org", str(len(body)), fnv1a64(body)]
                  for r in ("a@example.org", '"b>c d"@example.org')]
        same("lines", [line[1:] for line in lines], fields)
        same("saved", sink.saved(), body)
        true("envelope", "\nto\ta@example.org\n" in sink.read("saved/00000001.env"))
        same("no id", code(c.mail(testid="")), "250")
        same("id is -", sink.accepted()[2][2], "-")
        same("tab in the id", code(c.mail(testid="a\tb\x1b")), "250")
        same("is escaped", sink.accepted()[3][2], "a\\x09b\\x1b")
        same("null sender", code(c.mail(sender="")), "250")
        same("sender is <>", sink.accepted()[4][4], "<>")
        same("quit", code(c.command("QUIT")), "221")
        same("closed", c.reply(), None)
        same("violations", sink.violations(), [])


TRICKY = (b"X-Test-Id: split\r\n\r\n.\n.\r.\r\n.\r\r\n\r.\r\n..\r\n.a\n.\r\n\n.\r\nx\r\r\n"
          b"\r\n.\n\r\n.\rx\r\n\r\n...\r\nend\r\n")


def stuffed(message):
    return message.replace(b"\r\n.", b"\r\n..") + b".\r\n"


@test
def unstuffing_at_every_split():
    wire = stuffed(TRICKY)
    with Sink() as sink:
        c = sink.client()
        for at in range(1, len(wire)):
            c.envelope()
            c.send(wire[:at])
            time.sleep(0.001)
            c.send(wire[at:])
            if code(c.reply()) != "250":
                break
        c.envelope()
        for byte in wire:
            c.send(bytes([byte]))
            time.sleep(0.0005)
        same("byte by byte", code(c.reply()), "250")
        same("one message each", len(sink.accepted()), len(wire))
        same("hashes", {line[6] for line in sink.accepted()}, {fnv1a64(TRICKY)})
        same("bytes", sink.saved(), TRICKY)
        violations = sink.violations()
        bare = violations.count("bare-lf"), violations.count("bare-cr")
        lf = sum(1 for i, b in enumerate(TRICKY) if b == 10 and TRICKY[i - 1] != 13)
        cr = sum(1 for i, b in enumerate(TRICKY) if b == 13 and TRICKY[i + 1] != 10)
        same("violations", bare, (lf * len(wire), cr * len(wire)))
        same("none unstuffed", violations.count("unstuffed-dot"), 0)


@test
def only_crlf_dot_crlf_ends():
    with Sink() as sink:
        for end in (b"\n.\n", b"\r.\r", b"\n.\r\n", b"\r\n.\n", b"\r\n.\r", b"\r.\r\n"):
            c = sink.client()
            c.envelope()
            c.send(b"text" + end + b"MAIL FROM:<smuggled@example.org>\r\n")
            same("no end: %r" % end, c.reply(0.03), "nothing")
            c.send(b".\r\n")
            same("end: %r" % end, code(c.reply()), "250")
            c.close()
        same("messages", len(sink.accepted()), 6)
        true("unstuffed dot is seen", "unstuffed-dot" in sink.violations())
        c = sink.client()
        c.envelope()
        c.send(b"a\r\n.\rb\r\n.c\r\n.\r\n")
        same("unstuffed", code(c.reply()), "250")
        same("lost its dot only", sink.saved(7), b"a\r\n\rb\r\nc\r\n")


@test
def empty_message_and_commands():
    with Sink() as sink:
        c = sink.client()
        c.envelope()
        c.send(".\r\n")
        same("empty", code(c.reply()), "250")
        same("size", sink.accepted()[0][5:], ["0", fnv1a64(b"")])
        for line, wanted in (("NOOP", "250"), ("noop x", "250"), ("VRFY a", "252"), ("RSET", "250"),
                             ("FOO", "500"), ("x" * 5000, "500"), ("NO\rOP", "500"),
                             ("NO\0OP", "500"), ("NOOP", "250")):
            same(line[:10], code(c.command(line)), wanted)
        c.send("NOOP\n")
        same("bare LF", code(c.reply()), "500")
        same("violations", sink.violations(),
             ["unknown-command", "long-command", "bare-cr", "nul", "bare-lf"])


@test
def sequencing():
    with Sink() as sink:
        c = Client(sink.port, greet=False)
        same("greeting", code(c.reply()), "220")
        for line, wanted in (
                ("MAIL FROM:<a@b>", "503"), ("EHLO", "501"), ("EHLO x", "250"),
                ("RCPT TO:<a@b>", "503"), ("DATA", "503"), ("MAIL FROM: <a@b>", "501"),
                ("MAIL FROM:a@b", "501"), ("MAIL FROM:<a b@c>", "501"), ("MAIL FROM:<a@b", "501"),
                ("MAIL FROM:<a@b> FOO=1", "555"), ("MAIL FROM:<\xe4@b>", "553"),
                ("MAIL FROM:<a@b> SIZE=99 BODY=8BITMIME SMTPUTF8", "250"), ("DATA", "554"),
                ("MAIL FROM:<a@b>", "503"), ("RCPT TO:<>", "501"), ("RCPT TO:<a@b> X=1", "501"),
                ("RCPT TO:<a@b>", "250"), ("DATA x", "501"), ("RSET", "250"), ("DATA", "503"),
                ("MAIL FROM:<a@b>", "250"), ("EHLO x", "250"), ("RCPT TO:<a@b>", "503"),
                ("STARTTLS", "502"), ("AUTH PLAIN", "503")):
            same(line, code(c.command(line)), wanted)
        same("violations", sink.violations(),
             ["sequence", "syntax", "syntax", "syntax", "syntax", "parameter", "utf8-address",
              "sequence", "syntax", "syntax", "not-offered", "not-offered"])
        same("nothing accepted", sink.accepted(), [])


@test
def pipelining():
    group = "MAIL FROM:<a@b>\r\nRCPT TO:<%s>\r\nDATA\r\n"
    with Sink('at rcpt match=bad@* reply="550 5.1.1 no"') as sink:
        c = sink.client()
        c.send(group % "one@b")
        same("group", c.replies(3), ["250", "250", "354"])
        c.send("X-Test-Id: 1\r\n\r\n.\r\n" + group % "two@b")
        same("dot and next", c.replies(4), ["250", "250", "250", "354"])
        c.send("X-Test-Id: 2\r\n\r\n.\r\n" + group % "bad@b")
        same("refused", c.replies(4), ["250", "250", "550", "554"])
        c.send("RSET\r\n" + group % "three@b")
        same("after RSET", c.replies(4), ["250", "250", "250", "354"])
        c.send("X-Test-Id: 3\r\n\r\n.\r\nQUIT\r\n")
        same("end", c.replies(3), ["250", "221", None])
        same("who", [line[2:4] for line in sink.accepted()],
             [["1", "one@b"], ["2", "two@b"], ["3", "three@b"]])
        same("violations", sink.violations(), [])
        c = sink.client()
        c.send(group % "one@b" + "text\r\n.\r\n")
        same("early data", c.replies(4), ["250", "250", "354", "250"])
        same("is seen", sink.violations(), ["early-input"])
    with Sink("", "--no-pipelining", "--no-8bitmime", "--no-smtputf8", "--no-size") as sink:
        c = Client(sink.port, greet=False)
        c.reply()
        same("capabilities", c.command("EHLO x"), "250-mq-sink.test\n250 ENHANCEDSTATUSCODES")
        c.send(group % "one@b")
        same("answered", c.replies(3), ["250", "250", "354"])
        same("is seen", sink.violations(), ["pipelining", "pipelining"])
        c.send("\xe4\r\n.\r\n")
        same("dot", code(c.reply()), "250")
        true("8bit is seen", "8bit" in sink.violations())
        for parameter in ("SIZE=1", "BODY=8BITMIME", "SMTPUTF8"):
            same(parameter, code(c.command("MAIL FROM:<a@b> " + parameter)), "555")


@test
def limits():
    with Sink("", "--size", "100", "--max-recipients", "2", "--max-mails-per-connection", "2",
              "--max-connections", "2") as sink:
        c = sink.client()
        same("declared", code(c.command("MAIL FROM:<a@b> SIZE=101")), "552")
        same("recipients", c.envelope(recipients=["1@b", "2@b", "3@b"]),
             ["250", "250", "250", "452", "354"])
        c.send("x" * 99 + "\r\n.\r\n")
        same("too big", code(c.reply()), "552")
        same("mails", [code(c.mail()) for _ in range(2)], ["250", "250"])
        same("third", code(c.command("MAIL FROM:<a@b>")), "421")
        same("closed", c.reply(), None)
        c.close()
        time.sleep(0.02)
        a, b = sink.client(), sink.client()
        third = Client(sink.port, greet=False)
        same("too many", [code(third.reply()), third.reply()], ["421", None])
        third.close()
        a.close()
        time.sleep(0.02)
        same("room again", code(sink.client().mail()), "250")
        same("the other", code(b.mail()), "250")
