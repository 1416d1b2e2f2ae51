"""A server of S3 on this machine behind a proxy that loses what passes through it, in a process of their own.

    python -m tests.session.pipeline.object_store

prints the port of the proxy. What it is to lose is told to it by a request. The process is another one because a
library that waits for an answer may keep every thread of its own from giving it.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

BUCKET = "lake"
TOLD = "/-/told"
"""Where the proxy is told what to lose, and tells which writes it has seen."""
COPIED = "/-/copied"
"""Where it is told what to copy."""


class ObjectStore:
    """The server, as tests see it."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def storage(self) -> dict[str, str]:
        """What reaches the server, as a pipeline's file says it; what fails is not tried for minutes."""
        return {
            "aws_endpoint_url": f"http://127.0.0.1:{self.port}",
            "aws_allow_http": "true",
            "aws_region": "us-east-1",
            "aws_access_key_id": "key",
            "aws_secret_access_key": "secret",
            "timeout": "30s",
            "max_retries": "2",
            "retry_timeout": "30s",
        }

    def lines(self) -> str:
        """Return the table `storage` of a pipeline's file."""
        return "[storage]\n" + "".join(f'{name} = "{value}"\n' for name, value in self.storage.items())

    def lose(self, losses: dict[int, str], *, gone: bool = False) -> None:
        """Lose of the next writes some on the way there (`request`) or back (`answer`); with `gone` all that follow."""
        self._ask("POST", {"lose": losses, "gone": gone})

    def writes(self) -> list[str]:
        """Return the writes since the last call of `lose`."""
        return list(self._ask("GET"))

    def copy(self, old: str, new: str) -> None:
        """Copy all that is below a name, within the server."""
        self._ask("POST", [old, new], COPIED)

    def _ask(self, method: str, content: Any = None, where: str = TOLD) -> Any:
        body = json.dumps(content).encode() if content is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{where}", body, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@contextmanager
def serving() -> Iterator[ObjectStore]:
    """Within the block there is a server with one bucket."""
    command = [sys.executable, "-m", "tests.session.pipeline.object_store"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        store = ObjectStore(int(server.stdout.readline()))
        where = f"http://127.0.0.1:{store.port}/{BUCKET}"
        urllib.request.urlopen(urllib.request.Request(where, method="PUT")).close()
        yield store
    finally:
        server.terminate()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()


class Losses:
    """Which writes are lost."""

    def __init__(self) -> None:
        self.told({"lose": {}, "gone": False})

    def told(self, content: Any) -> None:
        """Begin to count anew."""
        self.writes: list[str] = []
        self.lose = {int(number): way for number, way in content["lose"].items()}
        self.gone, self.ended = content["gone"], False

    def of(self, command: str, path: str) -> str | None:
        """Return how a request is lost, if it is."""
        if self.ended:
            return "request"
        if command in {"GET", "HEAD"}:
            return None
        self.writes.append(f"{command} {path}")
        loss = self.lose.get(len(self.writes))
        self.ended = loss is not None and self.gone
        return loss


class Handler(BaseHTTPRequestHandler):
    """Passes requests on."""

    protocol_version = "HTTP/1.1"
    port = 0
    losses = Losses()
    lock = Lock()

    def pass_on(self) -> None:
        """Answer as the server does, or lose the request or the answer."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.lock:
            if self.path == COPIED:
                copy(*json.loads(content))
            if self.path in {TOLD, COPIED}:
                self.tell(content if self.path == TOLD else b"")
                return
            loss = self.losses.of(self.command, self.path)
            if loss != "request":
                made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                made.request(self.command, self.path, content, dict(self.headers))
                answer = made.getresponse()
                body = answer.read()
                made.close()
        if loss is not None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"transfer-encoding", "connection", "content-length", "date", "server"}:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        self.wfile.write(body)

    def tell(self, content: bytes) -> None:
        """Be told what to lose, or tell what was written."""
        if content:
            self.losses.told(json.loads(content))
        body = json.dumps(self.losses.writes).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on  # noqa: N815  (names of the library)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def copy(old: str, new: str) -> None:
    """Copy all that is below a name."""
    from moto.core.models import DEFAULT_ACCOUNT_ID  # noqa: PLC0415  (slow to load)
    from moto.s3.models import s3_backends  # noqa: PLC0415

    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for name, key in [*backend.buckets[BUCKET].keys.items()]:
        if name.startswith(f"{old}/"):
            backend.put_object(BUCKET, f"{new}{name.removeprefix(old)}", key.value)


if __name__ == "__main__":
    from moto.moto_server.threaded_moto_server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    Handler.port = server.get_host_and_port()[1]
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{proxy.server_address[1]}\n")
    sys.stdout.flush()
    proxy.serve_forever()
