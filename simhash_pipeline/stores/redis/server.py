"""The connection to Redis or Valkey: one server, a Sentinel's primary or a Cluster.

    redis://user:password@host:6379/0         TLS: rediss://…?ssl_ca_certs=/path/ca.pem
    unix:///path/redis.sock?db=0              redis+cluster://host:6379,other:6379
    redis+sentinel://host:26379,other:26379/service/0

Commands go out in pipelines and are sent again when the connection was lost, until it is back or
the patience ends: whatever goes through here may run twice.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.connection import SSLConnection, parse_url
from redis.retry import Retry
from redis.sentinel import Sentinel

from simhash_pipeline.errors import StoreDamaged, StoreError, StoreLost
from simhash_pipeline.stores.contract import UNREADABLE, shown_url
from simhash_pipeline.stores.redis.commit import SCRIPTS, Command

T = TypeVar("T")

OLDEST_VERSION = (6, 2)
TIMEOUT_SECS = 10.0
FIRST_WAIT_SECS, LONGEST_WAIT_SECS = 0.02, 0.5
LONG_WAIT_SECS = 5.0  # between looks for a server that was given up
SCRIPT_LOADS = 3

# What passes once the server, its replica or the other half of the Cluster is there.
_PASSING = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.TryAgainError,
    exceptions.ClusterError,
    exceptions.RedisClusterException,
    ConnectionError,
)
# The same for what redis-py has no class for: a long script, replicas that are gone for a moment.
_PASSING_CODES = ("BUSY Redis", "LOADING", "MASTERDOWN", "NOREPLICAS")
_RAISED = (exceptions.RedisError, exceptions.RedisClusterException, OSError)
_LASTING = (exceptions.AuthenticationError, exceptions.AuthorizationError)
_RIGHTS = "~simhash:* +@read +@write +@scripting +@connection +info"
# By kind, and by the code that stands in what a script says.
_EXPLANATIONS: tuple[tuple[type[Exception], str, str], ...] = (
    (exceptions.AuthenticationError, "NOAUTH", "the server refuses the user's name or password"),
    (exceptions.NoPermissionError, "NOPERM", f"the user lacks rights; a store needs {_RIGHTS}"),
    (exceptions.ReadOnlyError, "READONLY", "the server is a read-only replica; name its primary"),
    (exceptions.OutOfMemoryError, "OOM", "the server's memory is full; give it more (maxmemory)"),
)

logger = logging.getLogger(__name__)


class Server:
    """Runs pipelines of commands; for many threads at once.

    StoreError, without a password, when the server can't be used; StoreLost when it was and is
    gone for `wait_secs`.
    """

    def __init__(self, url: str, wait_secs: float) -> None:
        self.shown = shown_url(url)
        self._wait_secs = wait_secs
        self._gone_until = 0.0  # not to be tried before; 0 while it is there
        self._fails_over = "+" in url.partition("://")[0]
        try:
            self._client = _client(url)
            try:
                self._begin()
            except BaseException:
                self._client.close()
                raise
        except _RAISED as error:
            raise self._fault(error) from error
        except (TypeError, ValueError):  # whose messages may quote the password
            wrong = "a part of its URL is wrong"
            raise StoreError(f"no store can be opened at {self.shown}: {wrong}") from None

    def _begin(self) -> None:
        """Look at the server and load the scripts; waits for one that says it is busy."""
        give_up = time.monotonic() + self._wait_secs
        while True:
            try:
                self._refuse_unfit()
                return self._load_scripts()
            except _RAISED as error:
                is_silent = isinstance(error, exceptions.TimeoutError)
                if is_silent or not _is_busy(error) or time.monotonic() >= give_up:
                    raise
                logger.warning("Store %s: %s; waiting for it", self.shown, str(error).rstrip("."))
            time.sleep(LONGEST_WAIT_SECS)

    def run(self, commands: Sequence[Command]) -> list[Any]:
        """The replies, once all commands have run; on one server they run in their order."""
        if time.monotonic() < self._gone_until:
            raise self._gone()
        give_up, wait_secs, loads = 0.0, FIRST_WAIT_SECS, 0
        while True:
            replies = self._replies(commands) if commands else []
            if (fault := _worst(replies)) is None:
                self._gone_until = 0.0
                return replies
            if isinstance(fault, exceptions.NoScriptError) and loads < SCRIPT_LOADS:
                loads += 1
                try:
                    self._load_scripts()
                except _RAISED as error:
                    if not self._passes(error):
                        raise self._fault(error) from error
                continue
            if not self._passes(fault):
                raise self._fault(fault) from fault
            if not give_up:
                # None again for a server that was given up and isn't back yet.
                give_up = time.monotonic() + (0 if self._gone_until else self._wait_secs)
                logger.warning("Store %s: %s; waiting for it", self.shown, str(fault).rstrip("."))
            if time.monotonic() >= give_up:
                self._gone_until = time.monotonic() + LONG_WAIT_SECS
                raise self._gone() from fault
            time.sleep(wait_secs)
            wait_secs = min(2 * wait_secs, LONGEST_WAIT_SECS)

    def ask(self, *command: bytes | str | int) -> Any:
        """The reply to one command."""
        return self.run([command])[0]

    def scan(self, key: bytes, at_a_time: int) -> Iterator[dict[bytes, bytes]]:
        """All of a hash, about so many fields at a time; some may come twice."""
        cursor = 0
        while True:
            cursor, found = self.ask("HSCAN", key, cursor, "COUNT", at_a_time)
            yield found
            if not int(cursor):
                return

    def items(self, key: bytes, at_a_time: int) -> Iterator[tuple[bytes, bytes]]:
        """The same, each field once."""
        seen = set[bytes]()
        for found in self.scan(key, at_a_time):
            yield from ((name, value) for name, value in found.items() if name not in seen)
            seen |= found.keys()

    def unpacked(self, what: str, unpack: Callable[..., T], *packed: Any) -> T:
        """What `unpack` returns; StoreDamaged for bytes that no store has written."""
        try:
            return unpack(*packed)
        except UNREADABLE as error:
            advice = "restore a copy, or name another store"
            raise StoreDamaged(
                f"store {self.shown} is damaged ({what}: {error}); {advice}"
            ) from error

    def tried(self, *command: bytes | str | int) -> bool:
        """Run a command if the server is there now."""
        return _worst(self._replies([command])) is None

    def close(self) -> None:
        self._client.close()

    def _replies(self, commands: Sequence[Command]) -> list[Any]:
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command, **self._target(command))
                return list(pipeline.execute(raise_on_error=False))
        except _RAISED as error:
            return [error]

    def _target(self, command: Command) -> dict[str, Any]:
        """The node of a command's first key, which redis-py would ask the Cluster for."""
        if isinstance(self._client, Redis):
            return {}
        key = command[3] if command[0] == "EVALSHA" else command[1]
        slot = self._client.keyslot(key)
        return {"target_nodes": self._client.nodes_manager.get_node_from_slot(slot)}

    def _passes(self, fault: Exception) -> bool:
        if isinstance(fault, exceptions.ReadOnlyError) or "READONLY" in str(fault):
            # A replica that is to be the primary soon, or was it a moment ago.
            return self._fails_over
        return _is_busy(fault) or (isinstance(fault, _PASSING) and not isinstance(fault, _LASTING))

    def _gone(self) -> StoreLost:
        rule = f"not back within {self._wait_secs:g} seconds"
        return StoreLost(f"store {self.shown}: gone, and {rule}")

    def _fault(self, error: Exception) -> StoreError:
        for kind, code, explanation in _EXPLANATIONS:
            if isinstance(error, kind) or code in str(error):
                return StoreError(f"store {self.shown}: {explanation} ({error})")
        return StoreError(f"store {self.shown}: {error}")

    def _load_scripts(self) -> None:
        for node in self._primaries():
            for script in SCRIPTS:
                node.script_load(script.text)

    def _primaries(self) -> list[Redis]:
        if isinstance(client := self._client, Redis):
            return [client]
        return [client.get_redis_connection(node) for node in client.get_primaries()]

    def _refuse_unfit(self) -> None:
        for node in self._primaries():
            if node.get_encoder().decode_responses:
                rule = "a store's values are bytes; leave decode_responses out of its URL"
                raise StoreError(f"store {self.shown}: {rule}")
            info: Any = node.info("everything")
            version = str(info["redis_version"])
            if tuple(map(int, version.split(".")[:2])) < OLDEST_VERSION:
                rule = "it must be 6.2 or newer, or Valkey"
                raise StoreError(f"store {self.shown}: the server is Redis {version}; {rule}")
            if info["role"] != "master":
                raise self._fault(exceptions.ReadOnlyError(f"its role is {info['role']}"))
            if info["maxmemory"] and info["maxmemory_policy"] != "noeviction":
                raise StoreError(
                    f"store {self.shown}: the server evicts keys when its memory is full "
                    f"(maxmemory-policy {info['maxmemory_policy']}), and so would forget pages; "
                    "set maxmemory-policy noeviction"
                )
            if not info["aof_enabled"]:
                logger.warning(
                    "Store %s: the server keeps no append-only file, so a restart forgets the "
                    "pages since its last snapshot, or all; set appendonly yes",
                    self.shown,
                )


def _client(url: str) -> Redis | RedisCluster:
    settings: dict[str, Any] = {
        "socket_timeout": TIMEOUT_SECS,
        "socket_connect_timeout": TIMEOUT_SECS,
        "retry": Retry(NoBackoff(), 0),  # Server.run does it, and for longer
    }
    parts = urlsplit(url)
    if "+" not in parts.scheme:
        return Redis.from_url(url, **settings)
    hosts, options = _hosts(parts)
    if parts.scheme.endswith("+cluster"):
        nodes = [ClusterNode(host, port) for host, port in hosts]
        return RedisCluster(startup_nodes=nodes, **settings, **options)
    service, _, database = parts.path.strip("/").partition("/")
    sentinel = Sentinel(hosts, socket_timeout=TIMEOUT_SECS)
    primary: Redis = sentinel.master_for(service, db=int(database or 0), **settings, **options)
    return primary


def _hosts(parts: SplitResult) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """Hosts and ports, and the rest of what redis-py reads in the URL of one host."""
    scheme = parts.scheme.partition("+")[0]
    credentials, at, hosts = parts.netloc.rpartition("@")
    found, options = [], {}
    for host in hosts.split(","):
        options = dict(parse_url(f"{scheme}://{credentials}{at}{host}?{parts.query}"))
        found.append((options.pop("host", "localhost"), options.pop("port", 6379)))
    if options.pop("connection_class", None) is SSLConnection:
        options["ssl"] = True
    return found, options


def _is_busy(fault: Exception) -> bool:
    """Whether the server is there and can't do this now."""
    is_busy = isinstance(fault, (exceptions.BusyLoadingError, exceptions.TimeoutError))
    return is_busy or any(code in str(fault) for code in _PASSING_CODES)


def _worst(replies: list[Any]) -> Exception | None:
    """The error to act on; one that lasts before one that passes."""
    errors = (reply for reply in replies if isinstance(reply, Exception))
    return min(errors, key=lambda error: isinstance(error, _PASSING), default=None)
