"""A TCP proxy on loopback: cut_proxy.py PORT DIRECTORY

It passes on what comes to PORT of loopback. DIRECTORY gets "port", the proxy's own, and "passed", a
line for each connection that ended: how many octets the server had sent. If it has a file "limit",
a connection is closed when the server has sent so many.
"""

import asyncio
import os
import sys

PORT, DIRECTORY = int(sys.argv[1]), sys.argv[2]


def limit():
    try:
        with open(os.path.join(DIRECTORY, "limit"), encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return 1 << 60


async def copy(reader, writer, left):
    passed = 0
    while passed < left and (data := await reader.read(min(65536, left - passed))):
        passed += len(data)
        writer.write(data)
        await writer.drain()
    writer.close()
    return passed


async def connected(reader, writer):
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", PORT)
    _, passed = await asyncio.gather(copy(reader, far_writer, 1 << 60),
                                     copy(far_reader, writer, limit()), return_exceptions=True)
    with open(os.path.join(DIRECTORY, "passed"), "a", encoding="ascii") as log:
        log.write(f"{passed}\n")


async def serve():
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    with open(os.path.join(DIRECTORY, "port.new"), "w", encoding="ascii") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(os.path.join(DIRECTORY, "port.new"), os.path.join(DIRECTORY, "port"))
    await server.serve_forever()


asyncio.run(serve())
