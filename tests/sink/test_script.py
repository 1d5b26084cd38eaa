"""Every condition and action of the script."""

import os
import socket
import subprocess
import tempfile
import time

from sinktest import HERE, PROGRAM, Client, Sink, code, same, test, true


STAGES = {
    "connect": None, "ehlo": "EHLO x", "mail": "MAIL FROM:<a@b>", "rcpt": "RCPT TO:<a@b>",
    "data": "DATA", "dot": "X-Test-Id: s\r\n\r\n.", "rset": "RSET", "noop": "NOOP", "quit": "QUIT",
}
BEFORE = {"mail": 1, "rcpt": 2, "data": 3, "dot": 4}


def until_stage(sink, stage):
    """A client whose next reply is the stage's."""
    c = Client(sink.port, greet=False)
    if stage == "connect":
        return c
    c.reply()
    for line in list(STAGES.values())[1:1 + BEFORE.get(stage, 0)]:
        c.command(line)
    c.send(STAGES[stage] + "\r\n")
    return c


@test
def replies_at_every_stage():
    for stage in STAGES:
        with Sink('at %s times=1 reply="450-4.0.0 one\\n450 4.0.0 two"' % stage) as sink:
            c = until_stage(sink, stage)
            same(stage, c.reply(), "450-4.0.0 one\n450 4.0.0 two")
            same(stage + " stays open", code(c.command("QUIT")), "221")
            same(stage + " accepts nothing", sink.accepted(), [])


@test
def endings_at_every_stage():
    for stage in STAGES:
        script = "\n".join("at %s connection=%d %s" % (stage, n + 1, action) for n, action in
                           enumerate(("close", "drop", "reset", "stall", "stop-reading",
                                      'reply="421 4.3.2 bye"',
                                      'times=1 reply="421 4.3.2 stay" then=keep')))
        with Sink(script) as sink:
            got = [until_stage(sink, stage).reply() for _ in range(3)]
            same(stage, got, [None, None, "reset"])
            for silent in ("stall", "stop-reading"):
                c = until_stage(sink, stage)
                same(stage + " " + silent, c.reply(0.03), "nothing")
                c.close()
            c = until_stage(sink, stage)
            same(stage + " 421", [code(c.reply()), c.reply()], ["421", None])
            c = until_stage(sink, stage)
            same(stage + " keep", [code(c.reply()), code(c.command("QUIT"))], ["421", "221"])
            same(stage + " accepts nothing", sink.accepted(), [])


@test
def close_is_fin_and_stall_reads():
    with Sink("at mail connection=1 close\nat mail connection=2 stall\n"
              "at mail connection=3 stop-reading", "--receive-buffer", "4096") as sink:
        c = sink.client()
        same("fin", c.command("MAIL FROM:<a@b>"), None)
        c.send("x" * 100000)  # a close that reset would make one of these fail
        time.sleep(0.02)
        c.send("x" * 100000)
        for wanted in (True, False):
            c = sink.client()
            c.send("MAIL FROM:<a@b>\r\n")
            c.socket.settimeout(0.3)
            try:
                for _ in range(200):
                    c.send("x" * 100000)
                got = True
            except socket.timeout:
                got = False
            same("takes 20 MB", got, wanted)


@test
def bytes_on_the_wire():
    rules = ('at noop match=raw raw="250 \\x00\\xff\\\\\\"\\t"\n'
             'at noop match=behind reply="250 a" behind="250 b\\r\\n"\n'
             'at noop match=partial reply="250 whole" partial=5\n'
             'at noop match=stall reply="250 whole" partial=5 then=stall\n'
             'at noop match=split reply="250-abc\\n250 def" split=1\n'
             'at noop match=long raw="250-xxxxxx\\r\\n" repeat=10000\n'
             'at noop match=default delay-ms=1   # the sink\'s own\n')
    with Sink(rules) as sink:
        c = sink.client()
        c.send("NOOP raw\r\n")
        same("raw", c.receive(), b'250 \0\xff\\"\t')
        c.send("NOOP behind\r\n")
        same("behind", c.receive(), b"250 a\r\n250 b\r\n")
        c.send("NOOP split\r\n")
        parts = []
        while sum(map(len, parts)) < 18:
            parts.append(c.receive())
        same("split", b"".join(parts), b"250-abc\r\n250 def\r\n")
        true("in parts: %r" % parts, len(parts) > 9)
        same("default", c.command("NOOP default"), "250 2.0.0 Ok")
        c.send("NOOP long\r\nNOOP\r\n")
        text = b""
        while not text.endswith(b"Ok\r\n"):
            text += c.receive()
        same("repeat", len(text), 120000 + len("250 2.0.0 Ok\r\n"))
        c.send("NOOP partial\r\n")
        same("partial", [c.receive(), c.receive()], [b"250 w", b""])
        c = sink.client()
        c.send("NOOP stall\r\n")
        same("partial stall", [c.receive(), c.receive(0.03)], [b"250 w", "nothing"])


@test
def delays():
    with Sink('at noop delay-ms=400\nat rset delay-ms=30-60\n', "--delay-dot-ms", "400") as sink:
        c = sink.client()
        for line, least, most in (("NOOP", 0.399, 1.5), ("RSET", 0.029, 1.5)):
            started = time.monotonic()
            c.send("VRFY x\r\n" + line + "\r\n")
            same("before it", code(c.reply(0.3)), "252")
            c.reply()
            took = time.monotonic() - started
            true("%s took %.3f" % (line, took), least <= took <= most)
        c.envelope()
        started = time.monotonic()
        c.send("X-Test-Id: d\r\n\r\n.\r\nNOOP\r\n")
        same("logged before the reply", sink.wait_accepted(1), 1)
        true("at once", time.monotonic() - started < 0.35)
        same("dot", code(c.reply()), "250")
        true("delayed", 0.399 <= time.monotonic() - started < 1.5)
        same("then the rest", code(c.reply()), "250")


@test
def decided_late():
    with Sink("", "--delay-dot-ms", "200", "--decide-late") as sink:
        c, gone = sink.client(), sink.client()
        for client in (c, gone):
            client.envelope()
            client.send("X-Test-Id: late\r\n\r\n.\r\n")
        time.sleep(0.03)
        gone.close()
        same("not yet", sink.accepted(), [])
        same("dot", code(c.reply()), "250")
        time.sleep(0.1)
        same("only who stayed", [line[1] for line in sink.accepted()], ["1"])


@test
def at_the_dot():
    with Sink('at dot testid=no reply="451 4.3.0 later"\nat dot testid=silent close accept=1\n'
              'at dot testid=lost close\nat dot testid=lie reply="451 4.3.0 kept" accept=1\n'
              'at dot testid=drop reply="250 2.0.0 dropped" accept=0\n'
              'at dot match=bob@* reply="554 5.7.1 not bob"') as sink:
        for testid, wanted in (("no", "451"), ("silent", None), ("lost", None), ("lie", "451"),
                               ("drop", "250"), ("plain", "250")):
            same(testid, code(sink.client().mail(testid)), wanted)
        same("bob", code(sink.client().mail(recipients=["a@b", "bob@b"])), "554")
        same("accepted", [line[2] for line in sink.accepted()], ["silent", "lie", "plain"])


@test
def reset_with_the_next_envelope_unread():
    with Sink("at dot connection=1 then=reset then-delay-ms=50\nat dot then=close") as sink:
        for end in ("reset", None):
            c = sink.client()
            c.envelope()
            c.send("X-Test-Id: r\r\n\r\n.\r\n")
            same("reply", code(c.reply()), "250")
            c.send("MAIL FROM:<next@b>\r\nRCPT TO:<next@b>\r\nDATA\r\n")
            same("then", c.reply(), end)
        same("accepted", len(sink.accepted()), 2)
        true("unread", "next@b" not in sink.read("transcript"))


@test
def faults_in_the_body():
    with Sink('at body bytes=5000 connection=1 reset\nat body bytes=20 connection=2 close\n'
              'at body bytes=5000 connection=3 reply="421 4.3.2 going down"\n'
              'at body bytes=5000 connection=4 stop-reading', "--receive-buffer", "4096") as sink:
        for number, wanted in enumerate(("reset", None, "421"), 1):
            c = sink.client()
            c.envelope()
            c.send("x" * 70 + "\r\n")
            if number != 2:
                same("not yet", c.reply(0.03), "nothing")
            c.send(("y" * 70 + "\r\n") * 100 + ".\r\n" if number == 3 else "y\r\n" * 3000)
            same("connection %d" % number, code(c.reply()), wanted)
        c = sink.client()
        c.envelope()
        c.socket.settimeout(0.3)
        try:
            for _ in range(1000):
                c.send(("z" * 70 + "\r\n") * 200)
            same("blocks", "all sent", "blocked")
        except socket.timeout:
            same("blocks", "blocked", "blocked")
        same("nothing accepted", sink.accepted(), [])


@test
def at_accept_and_idle():
    with Sink('at accept connection=1 reset\nat accept connection=2 raw="garbage\\n" then=close\n'
              'at idle after-ms=60 mails=1- reply="421 4.4.2 idle"\n'
              'at idle after-ms=500 mails=0 close') as sink:
        same("reset", Client(sink.port, greet=False).reply(), "reset")
        same("raw", Client(sink.port, greet=False).receive(), b"garbage\n")
        c = sink.client()
        time.sleep(0.08)
        same("not idle long", code(c.mail()), "250")
        started = time.monotonic()
        same("idle", [code(c.reply()), c.reply()], ["421", None])
        true("after 60 ms", 0.05 < time.monotonic() - started < 0.4)
        c = sink.client()
        c.command("MAIL FROM:<a@b>")
        same("a transaction is not idle", c.reply(0.7), "nothing")
        c.command("RSET")
        same("close", c.reply(), None)


# --- the script: conditions


@test
def conditions():
    cases = (
        ("nth=2", "250 450 250 250 250 250"), ("nth=2-3", "250 450 450 250 250 250"),
        ("after=4", "250 250 250 250 450 450"), ("every=2", "250 450 250 450 250 450"),
        ("times=2", "450 450 250 250 250 250"), ("after=1 times=2", "250 450 450 250 250 250"),
        ("connection=2", "250 250 250 450 450 450"), ("conn-nth=3-", "250 250 450 250 250 450"),
        ("match=*@EXAMPLE.org", "450 450 450 450 450 450"), ("match=*@example.net", "250 " * 6),
        ("from=x@*", "250 " * 6), ("from=from@*", "450 " * 6), ("tls=0", "450 " * 6),
        ("tls=1", "250 " * 6), ("percent=0", "250 " * 6), ("percent=100", "450 " * 6),
        ("mails=1-", "250 " * 6), ("from-ms=60000", "250 " * 6), ("until-ms=60000", "450 " * 6),
    )
    for condition, wanted in cases:
        with Sink('at rcpt %s reply="450 4.0.0 no"' % condition) as sink:
            got = []
            for _ in range(2):
                c = sink.client()
                c.command("MAIL FROM:<from@example.org>")
                got += [code(c.command("RCPT TO:<%d@example.org>" % n)) for n in range(3)]
            same(condition, " ".join(got), wanted.strip())


@test
def order_any_and_percent():
    with Sink('at noop match=a reply="251 first"\nat any times=2 reply="252 any"\n'
              'at noop percent=50 reply="253 half"', "--seed", "7") as sink:
        c = Client(sink.port, greet=False)
        same("greeting untouched", code(c.reply()), "220")
        same("first", code(c.command("NOOP a")), "251")
        same("any", [code(c.command(x)) for x in ("RSET", "NOOP")], ["252", "252"])
        first = [code(c.command("NOOP")) for _ in range(200)]
        true("about half: %d" % first.count("253"), 70 < first.count("253") < 130)
    with Sink('at noop percent=50 reply="253 half"', "--seed", "7") as sink:
        c = sink.client()
        same("the seed repeats", [code(c.command("NOOP")) for _ in range(200)], first)


@test
def time_window_and_reload():
    with Sink('at noop until-ms=300 reply="450 early"') as sink:
        c = sink.client()
        same("early", code(c.command("NOOP")), "450")
        time.sleep(0.31)
        same("over", code(c.command("NOOP")), "250")
        same("note", sink.reload('at noop until-ms=300 reply="451 again"\n# x')[2:], ["1", "ok"])
        same("from the reload on", code(c.command("NOOP")), "451")
        time.sleep(0.31)
        same("over again", code(c.command("NOOP")), "250")
        note = sink.reload('at noop replay="451"')
        true("error is noted: %r" % note, note[3].startswith("line 1: not understood"))
        idle = sink.client()
        sink.reload("at idle after-ms=30 close")
        same("idle from the reload on", idle.reply(), None)
        sink.reload("at quit delay-ms=50")
        c = sink.client()
        c.send("QUIT\r\n")
        time.sleep(0.01)
        sink.reload("at quit reply=500")
        same("a reply under way stays", code(c.reply()), "221")


@test
def examples_of_the_readme():
    with open(os.path.join(HERE, "README.md")) as file:
        rules = [line.strip() for line in file if line.startswith("    at ")]
    true("there are some", len(rules) > 25)
    with Sink("\n".join(rules)) as sink:
        same("all are understood", sink.reload("\n".join(rules))[2:], [str(len(rules)), "ok"])


@test
def script_errors():
    for line, reason in (
            ("rcpt reply=x", "expected 'at STAGE'"), ("at nowhere close", "expected 'at STAGE'"),
            ("at rcpt times=x", "not understood: 'times=x'"), ("at rcpt nth=3-2", "not understood"),
            ('at rcpt reply="x', "not understood"), ('at rcpt raw="\\xg0"', "not understood"),
            ("at rcpt explode", "not understood: 'explode'"), ("at rcpt hide=AUTH", "hide= is for"),
            ("at ehlo hide=FOO", "not understood"), ("at mail accept=1", "accept= is for"),
            ("at body delay-ms=5", "'body' needs"), ('at rcpt close reply="250 x"', "then=ACTION"),
            ("at rcpt then=explode", "not understood")):
        with tempfile.TemporaryDirectory() as directory:
            with open(directory + "/script", "w") as file:
                file.write("# comment\n\n%s\n" % line)
            run = subprocess.run([PROGRAM, "--script", directory + "/script"], timeout=5,
                                 stderr=subprocess.PIPE, text=True)
            same(line, (run.returncode, "line 3: " in run.stderr and reason in run.stderr),
                 (78, True))
    same("option", subprocess.run([PROGRAM, "--frob"], stderr=subprocess.DEVNULL).returncode, 64)
