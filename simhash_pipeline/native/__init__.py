"""The compiled kernel, chosen once at import: None where the Python does its work.

It is None where no kernel was built, where the environment variable SIMHASH_NATIVE is 0, and on
big-endian machines.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simhash_pipeline.native import _kernel


def _chosen() -> type[_kernel] | None:
    if os.environ.get("SIMHASH_NATIVE") == "0" or sys.byteorder != "little":
        return None
    try:
        return importlib.import_module("simhash_pipeline.native._kernel")
    except ImportError:
        return None


kernel = _chosen()


def kind() -> str:
    """What makes fingerprints: "compiled" or "Python"."""
    return "Python" if kernel is None else "compiled"
