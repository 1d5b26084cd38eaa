"""An HTTP proxy on loopback that only knows CONNECT: connect_proxy.py PORT DIRECTORY

Whatever host a client names, it is connected to PORT of loopback. DIRECTORY gets "port", the proxy's
own, and "asked", a line for each CONNECT.
"""

import asyncio
import os
import sys

PORT, DIRECTORY = int(sys.argv[1]), sys.argv[2]


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def connected(reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    with open(os.path.join(DIRECTORY, "asked"), "a", encoding="ascii") as log:
        log.write(head.split("\r\n")[0] + "\n")
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer),
                         return_exceptions=True)


async def serve():
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    with open(os.path.join(DIRECTORY, "port.new"), "w", encoding="ascii") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(os.path.join(DIRECTORY, "port.new"), os.path.join(DIRECTORY, "port"))
    await server.serve_forever()


asyncio.run(serve())
