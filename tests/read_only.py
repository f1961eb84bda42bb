"""A folder that can't be written, for any user who runs the tests."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which Linux lets root write and enter everything.
ROOTS_OWN = 1 << 1 | 1 << 2
CAPABILITIES_OF_64_BITS = 0x2008_0522


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """Neither the folder nor anything in it can be written, by this thread; root's can't either."""
    inside = [path for path in folder.rglob("*") if not path.is_symlink()]
    before = {path: path.stat().st_mode for path in (folder, *inside)}
    for path, mode in before.items():
        path.chmod(mode & 0o555)
    as_root = os.name == "posix" and os.geteuid() == 0
    rights = _rights() if as_root else None
    try:
        if rights is not None:
            _give_up(rights)
        yield folder
    finally:
        if rights is not None:
            _give_up(rights, rights.effective)
        for path, mode in before.items():
            if path.exists():
                path.chmod(mode)


class _Rights(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint32)
        for name in ("effective", "permitted", "inheritable", *("of", "further", "rights"))
    )
    effective: int


def _rights() -> _Rights:
    if not sys.platform.startswith("linux"):
        pytest.skip("root can write everything here")
    rights = _Rights()
    _call("capget", rights)
    return rights


def _give_up(rights: _Rights, effective: int | None = None) -> None:
    """Without an argument, the right to write everything; else these are the rights from now on."""
    changed = _Rights.from_buffer_copy(rights)
    changed.effective = rights.effective & ~ROOTS_OWN if effective is None else effective
    _call("capset", changed)


def _call(name: str, rights: _Rights) -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_OF_64_BITS, 0)
    if getattr(ctypes.CDLL(None), name)(header, ctypes.byref(rights)):
        pytest.skip("this system doesn't let root give up a right")
