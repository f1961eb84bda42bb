from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.plugin import pytest_xdist_auto_num_workers as available_cores

from simhash_pipeline import open_store
from tests.archive.workers import shared_workers as shared_workers
from tests.archive.workers import worker_pool as worker_pool
from tests.cli.simhash_command import simhash as simhash
from tests.cli.simhash_command import simhash_in_project as simhash_in_project
from tests.stores.servers import RunningCluster, RunningServer, server_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simhash_pipeline.stores.contract import Store


# They take half a minute and more. Begun first, none of them ends alone.
LONGEST = {"test_demo_quality", "test_outcomes", "test_readers", "test_spark", "test_web_page"}

# No deadline: on a busy machine an example may take any time. Under CI Hypothesis draws the same
# examples at each run; elsewhere it draws new ones.
settings.register_profile("tests", deadline=None, print_blob=True)
settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Where a script runs the tests in the background, they and all they start ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "ci: takes so long that only CI=true runs it")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three for two cores: half of its time a test waits for a process, a server or a browser."""
    cores: int = available_cores(config)
    return 3 * cores // 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first. Outside CI what is marked as slow is skipped, aloud."""
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    if not os.environ.get("CI"):
        for item in items:
            if item.get_closest_marker("ci"):
                item.add_marker(pytest.mark.skip("CI=true make test runs it"))


@pytest.fixture(scope="session")
def redis_servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], RunningServer | RunningCluster]]:
    """An empty server of a kind, or "redis cluster"; each is started once and runs on."""
    running: dict[str, RunningServer | RunningCluster] = {}

    def emptied(kind: str) -> RunningServer | RunningCluster:
        if kind not in running:
            folder = tmp_path_factory.mktemp("server")
            if kind == "redis cluster":
                running[kind] = RunningCluster(server_binary("redis 6.2"), folder)
            else:
                running[kind] = RunningServer(server_binary(kind), folder)
        found = running[kind]
        for node in found.nodes if isinstance(found, RunningCluster) else [found]:
            node.tell("FLUSHALL")
        return found

    yield emptied
    for each in running.values():
        each.__exit__()


def empty_store(request: pytest.FixtureRequest, folder: Path) -> Store:
    """A store of the kind that the fixture is asked for."""
    url = "memory:" if request.param == "memory" else f"sqlite:///{folder}/pages.sqlite"
    if request.param.startswith(("redis", "valkey")):
        url = request.getfixturevalue("redis_servers")(request.param).url
    return open_store(url)


@pytest.fixture(params=["memory", "sqlite", "redis 6.2"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in memory, in a file and on Redis; tests/stores has one of each kind."""
    with empty_store(request, tmp_path) as opened:
        yield opened
