"""What a test does that lacks a server, a browser or Java."""

import os
from typing import NoReturn

import pytest


def skip_aloud(reason: str) -> NoReturn:
    """Skip the running test; under CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
