"""Two hosts beside this one, as far as the network can tell: namespaces where root has them."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDRESS = "10.213.77."
BRIDGE = f"sh{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Hosts:
    """The address of this host, and how commands begin that run on each of the two others."""

    address: str
    prefixes: tuple[tuple[str, ...], tuple[str, ...]]
    are_apart: bool


@contextmanager
def two_hosts() -> Iterator[Hosts]:
    """Hosts of a network of their own; where that can't be had both are this one, by loopback."""
    with ExitStack() as undo:
        try:
            hosts = _namespaces(undo)
        except (OSError, subprocess.CalledProcessError):
            hosts = Hosts("127.0.0.1", ((), ()), are_apart=False)
        yield hosts


def _namespaces(undo: ExitStack) -> Hosts:
    """A bridge with an end of a cable in each namespace; OSError where nobody may make them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        raise PermissionError("network namespaces need root and iproute2")
    _ip("link", "add", BRIDGE, "type", "bridge")
    undo.callback(_ip, "link", "del", BRIDGE)
    _ip("addr", "add", f"{ADDRESS}1/24", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")
    names = []
    for number in (2, 3):
        name, cable = f"{BRIDGE}-{number}", f"{BRIDGE}v{number}"
        _ip("netns", "add", name)
        undo.callback(_ip, "netns", "del", name)
        _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", cable, "master", BRIDGE, "up")
        _ip("-n", name, "addr", "add", f"{ADDRESS}{number}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")
        names.append(name)
    first, second = (("ip", "netns", "exec", name) for name in names)
    return Hosts(f"{ADDRESS}1", (first, second), are_apart=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
