"""Capabilities, AUTH, TLS, and the program as such."""

import base64
import os
import select
import signal
import socket
import ssl
import struct
import tempfile
import time

from sinktest import Client, Sink, certificate, code, same, test, true


@test
def capabilities_scripted():
    with Sink('at ehlo connection=1 hide=AUTH,PIPELINING\n'
              'at ehlo connection=2 reply="500 5.5.1 what"\n'
              'at ehlo connection=3 reply="250-x\\n250-SIZE 5\\n250 8BITMIME"',
              "--auth", "user:secret") as sink:
        c = Client(sink.port, greet=False)
        c.reply()
        offer = c.command("EHLO x").split("\n")
        true("hidden: %r" % offer, not any("AUTH" in line or "PIPE" in line for line in offer))
        same("and refused", code(c.command("AUTH PLAIN")), "503")
        c = Client(sink.port, greet=False)
        c.reply()
        same("refused", [code(c.command(x)) for x in ("EHLO x", "HELO x", "MAIL FROM:<a@b>")],
             ["500", "250", "250"])
        c = Client(sink.port, greet=False)
        c.reply()
        same("own words", c.command("EHLO x"), "250-x\n250-SIZE 5\n250 8BITMIME")
        same("counts", [code(c.command("MAIL FROM:<a@b> " + p)) for p in ("SMTPUTF8", "SIZE=3")],
             ["555", "250"])


def encode(text):
    return base64.b64encode(text.encode()).decode()


@test
def authentication():
    plain = encode("\0user\0secret")
    with Sink('at authcmd connection=9 reply="454 4.7.0 later"\n'
              'at auth connection=8 reply="535 5.7.8 no"', "--auth", "user:secret",
              "--auth-mechanisms", "PLAIN LOGIN XOAUTH2", "--require-auth") as sink:
        bearer = encode("user=user\1auth=Bearer secret\1\1")
        dialogues = (
            (["MAIL FROM:<a@b>"], ["530"]),
            (["AUTH PLAIN " + plain, "MAIL FROM:<a@b>"], ["235", "250"]),
            (["AUTH PLAIN", plain, "AUTH PLAIN"], ["334", "235", "503"]),
            (["AUTH LOGIN", encode("user"), encode("secret")], ["334", "334", "235"]),
            (["AUTH XOAUTH2 " + bearer], ["235"]),
            (["AUTH PLAIN " + encode("\0user\0wrong"), "AUTH PLAIN", "*"], ["535", "334", "501"]),
            (["AUTH LOGIN " + encode("user"), "!"], ["334", "501"]),
            (["AUTH PLAIN " + plain, "MAIL FROM:<a@b>"], ["535", "530"]),
            (["AUTH PLAIN " + plain], ["454"]),
            (["AUTH CRAM-MD5"], ["504"]),
        )
        for lines, wanted in dialogues:
            c = sink.client()
            same(lines[0][:12], [code(c.command(line)) for line in lines], wanted)
        true("in the transcript", plain in sink.read("transcript"))


@test
def starttls():
    with tempfile.TemporaryDirectory() as directory:
        options = certificate(directory)
        with Sink('at starttls connection=2 reply="454 4.7.0 no"\n'
                  'at starttls connection=3 reply="220 go" behind="250 injected\\r\\n"\n'
                  'at starttls connection=4 then=stall\nat ehlo tls=0 connection=5 hide=STARTTLS\n'
                  'at body tls=1 connection=6 bytes=2000 stop-reading', *options,
                  "--auth", "user:secret", "--auth-tls-only", "--require-tls",
                  "--receive-buffer", "4096") as sink:
            c = sink.client()
            same("needed", code(c.command("MAIL FROM:<a@b>")), "530")
            same("not in clear", code(c.command("AUTH PLAIN")), "503")
            same("starttls", code(c.command("STARTTLS")), "220")
            c.start_tls()
            same("forgotten", code(c.command("MAIL FROM:<a@b>")), "503")
            offer = c.command("EHLO x")
            true("offer", "AUTH" in offer and "STARTTLS" not in offer)
            same("mail", code(c.mail("tls")), "250")
            c.envelope()
            c.send("X-Test-Id: big\r\n\r\n" + ("x" * 70 + "\r\n") * 20000 + ".\r\nQUIT\r\n")
            same("large", c.replies(3), ["250", "221", None])
            true("saved as tls", "tls\t1" in sink.read("saved/00000001.env"))
            c = sink.client()
            same("refused", [code(c.command(x)) for x in ("STARTTLS", "NOOP")], ["454", "250"])
            c = sink.client()
            c.send("STARTTLS\r\n")
            same("after the 220", c.receive(), b"220 go\r\n250 injected\r\n")
            c = sink.client()
            same("stalls", code(c.command("STARTTLS")), "220")
            c.socket.settimeout(0.1)
            try:
                c.start_tls()
                same("no handshake", "shook", "timeout")
            except (socket.timeout, ssl.SSLError) as error:
                true("no handshake", "timed out" in str(error))
            c = Client(sink.port, greet=False)
            c.reply()
            true("stripped", "STARTTLS" not in c.command("EHLO x"))
            c = sink.client()
            c.command("STARTTLS")
            c.start_tls()
            c.command("EHLO x")
            c.envelope()
            c.socket.settimeout(0.3)
            try:
                for _ in range(300):
                    c.send(("z" * 70 + "\r\n") * 1000)
                same("blocks", "all sent", "blocked")
            except socket.timeout:
                same("blocks", "blocked", "blocked")
            c = sink.client()
            c.send("STARTTLS\r\nEHLO injected\r\n")
            same("pipelined after it", code(c.reply()), "220")
            c.start_tls()
            same("not answered", c.reply(0.05), "nothing")
            true("is seen", sink.violations()[-1] == "early-input")


@test
def implicit_tls():
    with tempfile.TemporaryDirectory() as directory:
        options = certificate(directory)
        with Sink("at dot connection=2 then=reset", *options, "--smtps",
                  "--tls-version", "1.2") as sink:
            c = sink.client(tls=True)
            same("version", c.socket.version(), "TLSv1.2")
            same("mail", code(c.mail()), "250")
            same("quit", [code(c.command("QUIT")), c.reply()], ["221", None])
            c = sink.client(tls=True)
            same("then reset", [code(c.mail()), c.reply() in ("reset", None)], ["250", True])
            c = Client(sink.port, greet=False)
            c.send("EHLO in clear\r\n")
            true("plaintext is refused", c.receive() != "nothing")
            try:
                Client(sink.port, greet=False).start_tls(ssl.TLSVersion.TLSv1_3)
                same("1.3 only", "shook", "refused")
            except (ssl.SSLError, ConnectionResetError):
                same("1.3 only", "refused", "refused")
        with Sink("", *options, "--tls-version", "1.0") as sink:
            c = sink.client()
            same("old version", code(c.command("STARTTLS")), "220")
            try:
                c.start_tls(ssl.TLSVersion.TLSv1_2)
                same("is refused by the client", "shook", "refused")
            except (ssl.SSLError, ConnectionResetError):
                same("is refused by the client", "refused", "refused")


@test
def many_at_once():
    with Sink("", "--delay-dot-ms", "100") as sink:
        clients = [sink.client(greet=False) for _ in range(300)]
        for c in clients:
            c.send("EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\nDATA\r\n")
        for c in clients:
            c.replies(5)
        started = time.monotonic()
        for c in clients:
            c.send("X-Test-Id: m\r\n\r\n.\r\n")
        same("all", {code(c.reply()) for c in clients}, {"250"})
        took = time.monotonic() - started
        true("side by side: %.3f s" % took, 0.099 < took < 3)
        same("lines", len(sink.accepted()), 300)
        same("connections", len({line[1] for line in sink.accepted()}), 300)
        for c in clients:
            c.close()
        time.sleep(0.05)
        sink.process.send_signal(signal.SIGUSR1)
        line = sink.process.stdout.readline()
        true(line, "connections=300 open=0 peak=300 mails=300 recipients=300 " in line)
        status, output = sink.end()
        same("exit", (status, output.startswith("connections=300")), (0, True))


@test
def timers_keep_their_order():
    delays = [(n * 37) % 40 * 10 + 10 for n in range(40)]  # shuffled, 10 to 400 ms
    with Sink("\n".join("at noop match=%d delay-ms=%d" % (d, d) for d in delays)) as sink:
        clients = {}
        for delay in delays:
            c = sink.client()
            clients[c.socket] = (delay, c)
        started, order = time.monotonic(), []
        for delay, c in clients.values():
            c.send("NOOP %d\r\n" % delay)
        while clients and time.monotonic() < started + 5:
            for ready in select.select(list(clients), [], [], 1)[0]:
                delay, c = clients.pop(ready)
                order.append(delay)
                true("%d ms not before its time" % delay,
                     time.monotonic() - started >= delay / 1000 - 0.001)
        near = [abs(a - b) <= 50 for a, b in zip(order, sorted(delays))]
        same("in order", (len(order), all(near)), (40, True))


@test
def killed_client_is_logged():
    with Sink() as sink:
        for _ in range(50):
            c = sink.client()
            c.envelope()
            c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.send("X-Test-Id: k\r\n\r\nbody\r\n.\r\n")
            if code(c.reply()) == "250":
                c.close()
        same("every 250 has its line", len(sink.accepted()), 50)


@test
def no_descriptor_is_left():
    with Sink("at noop close\nat rset reset\nat mail stall\nat ehlo match=d drop") as sink:
        folder = "/proc/%d/fd" % sink.process.pid
        before = len(os.listdir(folder))
        for line in ("NOOP", "RSET", "MAIL FROM:<a@b>", "EHLO d", "QUIT", "NOO"):
            for _ in range(20):
                c = sink.client()
                c.send(line + "\r\n")
                c.reply(0.01)
                c.close()
        time.sleep(0.05)
        same("descriptors", len(os.listdir(folder)), before)
