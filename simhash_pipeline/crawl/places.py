"""Where crawls keep their files: in Scrapy's data directory, a store and a drop log a spider."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

DIRECTORY = "simhash"
STORE_SUFFIX = ".sqlite"
LOG_SUFFIX = ".drops.jsonl"


def spider_file(spider_name: str, suffix: str) -> Path:
    """A spider's file (.scrapy/simhash/<name><suffix> in a project)."""
    return _directory() / f"{quote(spider_name, safe='')}{suffix}"


def spider_stores() -> dict[str, Path]:
    """The stores that crawls have left here, by the names of their spiders."""
    return _files(STORE_SUFFIX)


def spider_logs() -> dict[str, Path]:
    """The drop logs that crawls have left here, by the names of their spiders."""
    return _files(LOG_SUFFIX)


def _files(suffix: str) -> dict[str, Path]:
    return {
        unquote(path.name.removesuffix(suffix)): path
        for path in sorted(_directory().glob(f"*{suffix}"))
    }


def _directory() -> Path:
    try:
        path = Path(data_path(DIRECTORY))
    except NotConfigured:  # a project by SCRAPY_SETTINGS_MODULE alone, without a scrapy.cfg
        path = Path(".scrapy", DIRECTORY)
    return path.resolve()
