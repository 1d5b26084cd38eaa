"""An SMTP server on aiosmtpd that writes down what it accepts: aiosmtpd_server.py SETTINGS

SETTINGS is a JSON file:
  directory   where "port", "mails" (a JSON object a line) and "rcpts" (an address a line) go
  cert, key   PEM files: STARTTLS is offered
  user, password, require_auth
  replies     recipient -> reply to its RCPT
  smtputf8    offered (true)
"""

import asyncio
import base64
import json
import os
import socket
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self, settings):
        self.settings = settings

    def append(self, name, line):
        with open(os.path.join(self.settings["directory"], name), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    async def handle_RCPT(self, _server, _session, envelope, address, options):
        self.append("rcpts", address)
        reply = self.settings.get("replies", {}).get(address, "250 OK")
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
            envelope.rcpt_options.extend(options)
        return reply

    async def handle_DATA(self, _server, session, envelope):
        login = session.auth_data
        self.append("mails", json.dumps({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "options": envelope.mail_options,
            "message": base64.b64encode(envelope.original_content).decode(),
            "tls": session.ssl is not None,
            "user": login.login.decode() if login else None,
        }))
        return "250 2.0.0 OK"


def server(settings):
    options = {"hostname": "aiosmtpd.test", "enable_SMTPUTF8": settings.get("smtputf8", True)}
    if "cert" in settings:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings["cert"], settings["key"])
        options.update(tls_context=context, require_starttls=True)
    if "user" in settings:
        def check(_server, _session, _envelope, _mechanism, data):
            good = (data.login.decode() == settings["user"]
                    and data.password.decode() == settings["password"])
            return AuthResult(success=good, handled=False, auth_data=data)

        options.update(authenticator=check, auth_require_tls="cert" in settings,
                       auth_required=settings.get("require_auth", True))
    return SMTP(Handler(settings), **options)


async def main(settings):
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: server(settings), sock=listener)
    port = os.path.join(settings["directory"], "port")
    with open(port + ".new", "w", encoding="ascii") as file:
        file.write(str(listener.getsockname()[1]))
    os.rename(port + ".new", port)
    await asyncio.Event().wait()


with open(sys.argv[1], encoding="utf-8") as file:
    asyncio.run(main(json.load(file)))
