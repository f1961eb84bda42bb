"""Near-duplicate detection for web crawls: fingerprints, an exact index, a judge, a Scrapy shell.

Each name is imported when it is first used: the core runs without Scrapy, and a command starts
without what it doesn't need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simhash_pipeline.crawl.follow import FollowMiddleware
    from simhash_pipeline.crawl.pending import ResponseMiddleware
    from simhash_pipeline.crawl.pipeline import Addon, NearDuplicate, SimhashPipeline, page_judged
    from simhash_pipeline.deduped import Deduped, dedupe
    from simhash_pipeline.errors import (
        DropLogError,
        OptionsError,
        PageError,
        SimhashError,
        StoreError,
        StoreMismatch,
    )
    from simhash_pipeline.index.neighbours import FingerprintIndex
    from simhash_pipeline.judge import Judge
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import (
        Fingerprinter,
        PageFingerprint,
        content_fingerprint,
    )
    from simhash_pipeline.page.simhash import hamming_distance
    from simhash_pipeline.stores.opening import open_store
    from simhash_pipeline.verdict import Verdict

__all__ = [
    "Addon",
    "Deduped",
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
    "dedupe",
    "hamming_distance",
    "open_store",
    "page_judged",
]
__version__ = "0.9.0"

_NAMES = {
    "crawl.follow": "FollowMiddleware",
    "crawl.pending": "ResponseMiddleware",
    "crawl.pipeline": "Addon NearDuplicate SimhashPipeline page_judged",
    "deduped": "Deduped dedupe",
    "errors": "DropLogError OptionsError PageError SimhashError StoreError StoreMismatch",
    "index.neighbours": "FingerprintIndex",
    "judge": "Judge",
    "options": "Options",
    "page.fingerprint": "Fingerprinter PageFingerprint content_fingerprint",
    "page.simhash": "hamming_distance",
    "stores.opening": "open_store",
    "verdict": "Verdict",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
