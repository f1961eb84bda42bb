"""Near-duplicate detection for web crawls: fingerprints, an exact index, a judge, a Scrapy shell.

Each name is imported when it is first used: the core runs without Scrapy, and a command starts
without what it doesn't need.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # "as": it is exported
    from simhash_pipeline.crawl.follow import FollowMiddleware as FollowMiddleware
    from simhash_pipeline.crawl.pending import ResponseMiddleware as ResponseMiddleware
    from simhash_pipeline.crawl.pipeline import Addon as Addon
    from simhash_pipeline.crawl.pipeline import NearDuplicate as NearDuplicate
    from simhash_pipeline.crawl.pipeline import SimhashPipeline as SimhashPipeline
    from simhash_pipeline.crawl.pipeline import page_judged as page_judged
    from simhash_pipeline.deduped import Deduped as Deduped
    from simhash_pipeline.deduped import dedupe as dedupe
    from simhash_pipeline.errors import DropLogError as DropLogError
    from simhash_pipeline.errors import OptionsError as OptionsError
    from simhash_pipeline.errors import PageError as PageError
    from simhash_pipeline.errors import SimhashError as SimhashError
    from simhash_pipeline.errors import StoreError as StoreError
    from simhash_pipeline.errors import StoreMismatch as StoreMismatch
    from simhash_pipeline.index.neighbours import FingerprintIndex as FingerprintIndex
    from simhash_pipeline.judge import Judge as Judge
    from simhash_pipeline.options import Options as Options
    from simhash_pipeline.page.fingerprint import Fingerprinter as Fingerprinter
    from simhash_pipeline.page.fingerprint import PageFingerprint as PageFingerprint
    from simhash_pipeline.page.fingerprint import content_fingerprint as content_fingerprint
    from simhash_pipeline.page.simhash import hamming_distance as hamming_distance
    from simhash_pipeline.stores.opening import open_store as open_store
    from simhash_pipeline.verdict import Verdict as Verdict

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
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
