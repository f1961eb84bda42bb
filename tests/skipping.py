"""What a test does outside CI, and where it lacks a server, a browser or Java."""

import os
from typing import NoReturn

import pytest
from hypothesis import settings


def examples(most: int) -> settings:
    """So many under CI; elsewhere, where each run draws others, a fifth of them."""
    return settings(max_examples=most if os.environ.get("CI") else most // 5)


def skip_aloud(reason: str) -> NoReturn:
    """Skip the running test; under CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
