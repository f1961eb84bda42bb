from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import empty_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simhash_pipeline.stores.contract import Store


@pytest.fixture(
    params=[
        *("memory", "sqlite", "redis 6.2", "redis cluster"),
        *(pytest.param(newer, marks=pytest.mark.ci) for newer in ("redis", "valkey")),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind; newer servers under CI alone."""
    with empty_store(request, tmp_path) as opened:
        yield opened
