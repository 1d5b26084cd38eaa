"""What the sink's own tests need: a sink that is started and ended, and a client without mercy."""

import os
import signal
import socket
import ssl
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("MQ_SINK", os.path.join(HERE, "../../.build/sink/mq-sink"))
WAIT = 5.0  # seconds until something that must happen has not happened


tests, counts = [], {True: 0, False: 0}
running = [""]  # the name of the test


def test(function):
    tests.append(function)
    return function


def same(what, got, wanted):
    counts[got == wanted] += 1
    if got != wanted:
        print("FAILED %s: %s: got %r, wanted %r" % (running[0], what, got, wanted), flush=True)


def true(what, got):
    same(what, bool(got), True)


def fnv1a64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value


class Sink:
    """with Sink("script", "--option") as sink: …"""

    def __init__(self, script="", *options):
        self.directory = tempfile.TemporaryDirectory()
        self.set_script(script)
        os.mkdir(self.path("saved"))
        self.process = subprocess.Popen(
            [PROGRAM, "--port-file", self.path("port"), "--log", self.path("log"),
             "--transcript", self.path("transcript"), "--script", self.path("script"),
             "--save", self.path("saved"), "--stats", "--die-with-parent", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + WAIT
        while not os.path.exists(self.path("port")):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the sink did not start: " + self.process.stderr.read())
            time.sleep(0.005)
        self.port = int(self.read("port"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ends it; its exit status and what it printed."""
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=WAIT)
        self.directory.cleanup()
        return self.process.returncode, output

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def read(self, name, mode="r"):
        try:
            with open(self.path(name), mode) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def set_script(self, text):
        with open(self.path("script"), "w") as file:
            file.write(text + "\n")

    def reload(self, text):
        """Returns the log's note."""
        before = len(self.notes("reload"))
        self.set_script(text)
        self.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + WAIT
        while len(self.notes("reload")) == before and time.monotonic() < until:
            time.sleep(0.002)
        return self.notes("reload")[-1]

    def accepted(self):
        lines = [line.split("\t") for line in self.read("log").splitlines()]
        return [line for line in lines if line[0][0].isdigit()]

    def notes(self, kind):
        lines = [line.split("\t") for line in self.read("log").splitlines()]
        return [line for line in lines if line[0] == kind]

    def violations(self):
        return [line[3] for line in self.notes("violation")]

    def wait_accepted(self, count):
        until = time.monotonic() + WAIT
        while len(self.accepted()) < count and time.monotonic() < until:
            time.sleep(0.002)
        return len(self.accepted())

    def saved(self, number=1):
        return self.read("saved/%08d.eml" % number, "rb")

    def client(self, greet=True, **arguments):
        return Client(self.port, greet, **arguments)


class Client:
    """Bytes out, replies in. A reply is its text without the last CRLF; None: the connection
    ended; 'reset': by RST; 'nothing': within the time given."""

    def __init__(self, port, greet=True, tls=False):
        self.buffer = b""
        self.socket = None
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), WAIT)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except ConnectionResetError:  # a reset at once may overtake connect()
            return
        if tls:
            self.start_tls()
        if greet:
            self.reply()
            self.command("EHLO client.test")

    def start_tls(self, version=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if version is not None:
            context.minimum_version = version
        self.socket = context.wrap_socket(self.socket)

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def receive(self, timeout=WAIT):
        """More bytes; or b'' at the end, 'reset', 'nothing'."""
        if self.socket is None:
            return "reset"
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            return "reset"
        except (socket.timeout, ssl.SSLWantReadError):
            return "nothing"

    def reply(self, timeout=WAIT):
        lines = []
        while True:
            while b"\r\n" not in self.buffer:
                more = self.receive(timeout)
                if more == b"":
                    return None
                if isinstance(more, str):
                    return more
                self.buffer += more
            line, self.buffer = self.buffer.split(b"\r\n", 1)
            lines.append(line.decode("latin-1"))
            if line[3:4] != b"-":
                return "\n".join(lines)

    def replies(self, count):
        return [code(self.reply()) for _ in range(count)]

    def command(self, line, timeout=WAIT):
        self.send(line + "\r\n")
        return self.reply(timeout)

    def envelope(self, sender="from@example.org", recipients=("to@example.org",)):
        """MAIL, RCPT…, DATA one by one; the codes."""
        codes = [code(self.command("MAIL FROM:<%s>" % sender))]
        codes += [code(self.command("RCPT TO:<%s>" % address)) for address in recipients]
        return codes + [code(self.command("DATA"))]

    def mail(self, testid="t", sender="from@example.org", recipients=("to@example.org",)):
        """A whole mail; the reply to the dot, or to DATA when that is not a 354."""
        last = self.envelope(sender, recipients)[-1]
        if last != "354":
            return last
        self.send("X-Test-Id: %s\r\nSubject: x\r\n\r\nbody\r\n.\r\n" % testid)
        return self.reply()

    def close(self):
        if self.socket is not None:
            self.socket.close()


def code(reply):
    return reply if reply is None or reply in ("reset", "nothing") else reply[:3]


def certificate(directory):
    """A self-signed one; the options that use it."""
    key, cert = os.path.join(directory, "key.pem"), os.path.join(directory, "cert.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost"],
        check=True, stderr=subprocess.DEVNULL)
    return ["--cert", cert, "--key", key]
