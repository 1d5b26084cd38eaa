"""A mail API on loopback: api_server.py SETTINGS

It is not one API but what all have in common: it reads requests whole, checks who sends them,
writes them down, and answers. SETTINGS is a JSON file:
  directory    where "port" and "requests" (a JSON object a line) go, and from where "answers" comes
  cert, key    PEM files: HTTPS; without them HTTP
  delay        seconds before each answer (0)
  aws          {"key", "secret", "token"}: requests must have a right AWS Signature Version 4
  authorization  the field that requests must have otherwise
  answer       the answer to a request that "answers" has none for
  record       whether requests are written down (true)

"answers" has a JSON object a line; each is used once, in order:
  status, fields, body     an answer
  raw                      its bytes, in place of these (latin-1)
  endless                  the same bytes again and again until the client closes
  do                       "close": closes after the request; "leave": the same, and takes no new
                           connections any more; "hang": says nothing
  early                    true: done as soon as the request's head is there

    api_server.py --vectors     checks the signatures' arithmetic by AWS's published examples
"""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import ssl
import sys
from urllib.parse import parse_qsl, quote, unquote

REASONS = {200: "OK", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign(secret, scope, when, canonical):
    """AWS Signature Version 4, from the documentation: the signature in hex."""
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join(["AWS4-HMAC-SHA256", when, scope, sha256(canonical.encode())])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def canonical_request(method, target, fields, signed, body_hash):
    path, _, query = target.partition("?")
    pairs = sorted((quote(n, safe="-_.~"), quote(v, safe="-_.~"))
                   for n, v in parse_qsl(query, keep_blank_values=True))
    return "\n".join([
        method, quote(unquote(path), safe="/-_.~"), "&".join(f"{n}={v}" for n, v in pairs),
        *(f"{name}:{' '.join(fields[name].split())}" for name in signed), "", ";".join(signed),
        body_hash])


def fault_of_signature(aws, request):
    """Why a request is not signed with this key; None: it is."""
    fields, given = request["fields"], {}
    kind, _, rest = fields.get("authorization", "").partition(" ")
    for part in rest.split(","):
        name, _, value = part.strip().partition("=")
        given[name] = value
    if kind != "AWS4-HMAC-SHA256" or {"Credential", "SignedHeaders", "Signature"} - set(given):
        return "no signature"
    key, _, scope = given["Credential"].partition("/")
    signed = given["SignedHeaders"].split(";")
    body_hash = sha256(request["body"])
    if key != aws["key"] or fields.get("x-amz-security-token") != aws.get("token"):
        return "another key"
    if signed != sorted(signed) or any(name not in fields for name in signed):
        return "wrong list of fields"
    if not {"host", "x-amz-date"} <= set(signed):
        return "host or date is not signed"
    if any(name.startswith("x-amz-") and name not in signed for name in fields):
        return "a field of AWS is not signed"
    if fields.get("x-amz-content-sha256", body_hash) != body_hash:
        return "another body"
    canonical = canonical_request(request["method"], request["target"], fields, signed, body_hash)
    wanted = sign(aws["secret"], scope, fields["x-amz-date"], canonical)
    return None if wanted == given["Signature"] else "wrong signature"


class Connection(asyncio.Protocol):
    def __init__(self, server):
        self.server = server
        self.data = b""
        self.request = None
        self.pending = None

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, _error):
        if self.pending is not None:
            self.pending.cancel()

    def data_received(self, data):
        self.data += data
        while True:
            if self.request is None and not self.read_head():
                return
            if self.pending is not None or len(self.data) < self.request["size"]:
                return
            self.read_body()

    def read_head(self):
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return False
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        self.data = rest
        self.request = {"method": method, "target": target, "fields": fields,
                        "size": int(fields.get("content-length", 0))}
        if fields.get("expect") == "100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        answer = self.server.next_answer(early=True)
        if answer is not None:
            self.request["size"] = 1 << 60
            self.give(answer)
        return True

    def read_body(self):
        request, self.request = self.request, None
        request["body"] = self.data[:request["size"]]
        self.data = self.data[request["size"]:]
        answer = self.server.answer_to(request)
        delay = self.server.settings.get("delay", 0)
        if delay:
            self.pending = asyncio.get_running_loop().call_later(delay, self.give, answer)
        else:
            self.give(answer)

    def give(self, answer):
        self.pending = None
        if "endless" in answer:
            asyncio.get_running_loop().create_task(self.pour(answer))
        elif "raw" in answer:
            self.transport.write(answer["raw"].encode("latin-1"))
        elif "do" not in answer:
            self.transport.write(self.server.encode(answer))
        if answer.get("do") == "leave":
            self.server.listening.close()
        if answer.get("do") in ("close", "leave"):
            self.transport.close()

    async def pour(self, answer):
        self.transport.write(answer.get("raw", "").encode("latin-1"))
        piece = answer["endless"].encode("latin-1") * 100
        while not self.transport.is_closing():
            self.transport.write(piece)
            await asyncio.sleep(0.001)


class Server:
    def __init__(self, settings):
        self.settings = settings
        self.success = self.encode(settings.get("answer", {"status": 200, "body": "{}"}))
        self.answers, self.offset = [], 0
        self.log = None
        if settings.get("record", True):
            self.log = open(self.path("requests"), "a", encoding="utf-8", buffering=1)

    def path(self, name):
        return os.path.join(self.settings["directory"], name)

    @staticmethod
    def encode(answer):
        body = answer.get("body", "").encode()
        fields = {"Content-Length": str(len(body)), **(answer.get("fields") or {})}
        reason = REASONS.get(answer["status"], "Other")
        head = f"HTTP/1.1 {answer['status']} {reason}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return head.encode("latin-1") + b"\r\n" + body

    def next_answer(self, early):
        if not self.answers and self.log is not None and os.path.exists(self.path("answers")):
            with open(self.path("answers"), encoding="utf-8") as file:
                file.seek(self.offset)
                self.answers = [json.loads(line) for line in file.read().splitlines()]
                self.offset = file.tell()
        if self.answers and (not early or self.answers[0].get("early")):
            return self.answers.pop(0)
        return None

    def answer_to(self, request):
        fault = None
        if "aws" in self.settings:
            fault = fault_of_signature(self.settings["aws"], request)
        elif request["fields"].get("authorization") != self.settings.get(
                "authorization", request["fields"].get("authorization")):
            fault = "wrong authorization"
        if self.log is not None:
            shown = {**request, "body": base64.b64encode(request["body"]).decode(),
                     "fault": fault}
            self.log.write(json.dumps(shown) + "\n")
        if fault is not None:
            status = 403 if "aws" in self.settings else 401
            return {"status": status, "body": json.dumps({"message": fault}),
                    "fields": {"x-amzn-ErrorType": "SignatureDoesNotMatch:http://x/"}}
        answer = self.next_answer(early=False)
        return answer or {"raw": self.success.decode("latin-1")}


async def serve(settings):
    loop = asyncio.get_running_loop()
    server = Server(settings)
    tls = None
    if "cert" in settings:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(settings["cert"], settings["key"])
    server.listening = listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, ssl=tls,
                                         backlog=1024)
    port = listening.sockets[0].getsockname()[1]
    with open(server.path("port.new"), "w", encoding="ascii") as file:
        file.write(str(port))
    os.rename(server.path("port.new"), server.path("port"))
    await loop.create_future()


def check_vectors():
    """The examples of AWS's signature test suite: a name, the request, its signature."""
    secret, date = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830T123600Z"
    scope, host = "20150830/us-east-1/service/aws4_request", "example.amazonaws.com"
    form = "application/x-www-form-urlencoded"
    token = ("AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMic"
             "RXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsb"
             "urEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iP"
             "PkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==")
    suite = [
        ("get-vanilla", "GET", "/", {}, b"",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", {}, b"",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        ("post-vanilla", "POST", "/", {}, b"",
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ("post-sts-header-before", "POST", "/", {"x-amz-security-token": token}, b"",
         "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        ("post-x-www-form-urlencoded", "POST", "/", {"content-type": form}, b"Param1=value1",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    ]
    for name, method, target, more, body, wanted in suite:
        fields = {"host": host, "x-amz-date": date, **more}
        canonical = canonical_request(method, target, fields, sorted(fields), sha256(body))
        print(name, "ok" if sign(secret, scope, date, canonical) == wanted else "WRONG")


if sys.argv[1] == "--vectors":
    check_vectors()
else:
    with open(sys.argv[1], encoding="utf-8") as settings_file:
        asyncio.run(serve(json.load(settings_file)))
