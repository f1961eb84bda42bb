"""Crawls in the tests' process are as strict as in a new one, and leave nothing behind."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

from tests.crawl.crawling import crawl, page
from tests.stores.servers import wait_until


class Warns:
    """A later pipeline."""

    def process_item(self, item: Any) -> Any:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return item


def test_a_warning_in_a_crawl_is_an_error(tmp_path: Path) -> None:
    result = crawl(tmp_path, [page(1)], later=Warns)
    assert result.errors == ["DeprecationWarning('old')"]
    assert result.scraped == []


def test_a_crawl_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "users_own.py").write_text("def text(root):\n    return root.xpath('string()')")
    crawl(tmp_path, [page(1)])  # what is imported once stays
    before = state()
    settings: dict[str, Any] = {"SIMHASH_EXTRACTOR": "users_own.text", "SIMHASH_STORE": "memory:"}
    result = crawl(tmp_path, [page(1)], **settings)
    assert result.stats["simhash/kept"] == 1
    assert state() == before
    wait_until(lambda: not any(t.name.startswith("simhash") for t in threading.enumerate()))


def state() -> dict[str, object]:
    root = logging.getLogger()
    return {
        "directory": Path.cwd(),
        "path": list(sys.path),
        "own modules": "users_own" in sys.modules,
        "log": (root.level, list(root.handlers)),
        "filters": list(warnings.filters),
        "reactor": "twisted.internet.reactor" in sys.modules,
    }
