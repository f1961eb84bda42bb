"""Near-duplicate detection for web crawls: fingerprints, an exact index, a judge, a Scrapy shell.

The core runs without Scrapy; the Scrapy names are loaded when they are asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simhash_pipeline.errors import (
    DropLogError,
    OptionsError,
    PageError,
    SimhashError,
    StoreError,
    StoreMismatch,
)
from simhash_pipeline.index.neighbours import FingerprintIndex
from simhash_pipeline.judge import Judge, Verdict
from simhash_pipeline.options import Options
from simhash_pipeline.page.fingerprint import Fingerprinter, PageFingerprint, content_fingerprint
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.stores.opening import open_store

if TYPE_CHECKING:
    from simhash_pipeline.crawl.addon import Addon
    from simhash_pipeline.crawl.follow import FollowMiddleware
    from simhash_pipeline.crawl.pipeline import NearDuplicate, SimhashPipeline, page_judged
    from simhash_pipeline.crawl.responses import ResponseMiddleware

__all__ = [
    "Addon",
    "DropLogError",
    "FingerprintIndex",
    "Fingerprinter",
    "FollowMiddleware",
    "Judge",
    "NearDuplicate",
    "Options",
    "OptionsError",
    "PageError",
    "PageFingerprint",
    "ResponseMiddleware",
    "SimhashError",
    "SimhashPipeline",
    "StoreError",
    "StoreMismatch",
    "Verdict",
    "content_fingerprint",
    "hamming_distance",
    "open_store",
    "page_judged",
]
__version__ = "1.0.0"

_SCRAPY_NAMES = {
    "Addon": "simhash_pipeline.crawl.addon",
    "FollowMiddleware": "simhash_pipeline.crawl.follow",
    "NearDuplicate": "simhash_pipeline.crawl.pipeline",
    "ResponseMiddleware": "simhash_pipeline.crawl.responses",
    "SimhashPipeline": "simhash_pipeline.crawl.pipeline",
    "page_judged": "simhash_pipeline.crawl.pipeline",
}


def __getattr__(name: str) -> Any:
    if name in _SCRAPY_NAMES:
        return getattr(importlib.import_module(_SCRAPY_NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
