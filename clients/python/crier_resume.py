"""A GraphQL subscription that misses no event, over graphql-transport-ws (docs/reference/resume.md).

    async for result in subscribe("ws://localhost:4000/graphql", "subscription { bids { amount } }"):
        print(result["data"])

Needs the package `websockets` 14 or later. Copy the file: it is all there is.
"""

import asyncio
import json
import random

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

PROTOCOL = "graphql-transport-ws"
# A client that comes back after these would be closed again.
FATAL_CODES = frozenset({1002, 1007, 1008, 1009, 4400, 4401, 4406, 4409, 4429, 4500})
# The server is without Redis for now.
TRANSIENT_CODES = frozenset({"BUS_UNAVAILABLE"})
MAX_PAUSE_SECONDS = 30
ACK_TIMEOUT_SECONDS = 10


class Refused(Exception):
    """The server refuses the operation. `errors`: as GraphQL gives them."""

    def __init__(self, errors):
        super().__init__("; ".join(error["message"] for error in errors))
        self.errors = errors


async def subscribe(url, query, variables=None, *, connection_params=None, cursor=None):
    """Yields each result once, in order, across connections. `extensions.resumed` is False where events were missed.

    connection_params: coroutine function that returns the payload of connection_init, called for each connection.
    cursor: of the last result of an earlier run; None: begins now.
    """
    is_new = cursor is None
    attempt = 0
    while True:
        try:
            async with connect(url, subprotocols=[PROTOCOL]) as socket:
                await _initialise(socket, connection_params)
                payload = {"query": query, "variables": variables or {}}
                if not is_new:
                    payload["extensions"] = {"resume": {"cursor": cursor}}
                await _send(socket, {"id": "1", "type": "subscribe", "payload": payload})
                is_new = False
                async for message in _messages(socket):
                    if message["type"] == "complete":
                        return
                    if message["type"] == "error":
                        if not _is_transient(message["payload"]):
                            raise Refused(message["payload"])
                        break
                    attempt = 0
                    cursor = message["payload"].get("extensions", {}).get("cursor")
                    yield message["payload"]
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code in FATAL_CODES:
                raise
        except (OSError, InvalidHandshake, asyncio.TimeoutError):
            pass
        await asyncio.sleep(random.random() * min(2**attempt, MAX_PAUSE_SECONDS))
        attempt += 1


async def _initialise(socket, connection_params):
    payload = await connection_params() if connection_params else {}
    await _send(socket, {"type": "connection_init", "payload": payload})
    async with asyncio.timeout(ACK_TIMEOUT_SECONDS):
        async for message in _messages(socket):
            if message["type"] == "connection_ack":
                return


async def _messages(socket):
    """The messages of the server, but pings, which are answered."""
    while True:
        message = json.loads(await socket.recv())
        if message["type"] == "ping":
            await _send(socket, {"type": "pong"})
        elif message["type"] != "pong":
            yield message


async def _send(socket, message):
    await socket.send(json.dumps(message))


def _is_transient(errors):
    return any(error.get("extensions", {}).get("code") in TRANSIENT_CODES for error in errors)
