"""What judged pages said, on its way into the store: many texts in one transaction."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from simhash_pipeline.stores.contract import PageText, Store

if TYPE_CHECKING:
    from simhash_pipeline.options import Options
    from simhash_pipeline.page.fingerprint import PageFingerprint

# So much may be lost when a crawl is killed, and is held in memory.
MANY_TEXTS = 100
MANY_CHARACTERS = 1_000_000


class Texts:
    """Collects texts where SIMHASH_KEEP_TEXT says so, and does nothing elsewhere."""

    def __init__(self, store: Store, options: Options) -> None:
        self._store = store
        self._wanted = options.keep_text
        self._namespace = options.namespace
        self._waiting: dict[str, PageText] = {}  # by canonical URL
        self._characters = 0

    def add(self, url: str, page: PageFingerprint) -> None:
        """Take the text of a page that was judged just now."""
        if self._wanted:
            self._waiting[url] = PageText(self._namespace, url, page.title, page.text, time.time())
            self._characters += len(page.text)

    def forget(self, url: str) -> None:
        """Take it back."""
        self._waiting.pop(url, None)

    def write_where_many(self) -> None:
        """Write what waits, once it is worth a transaction; StoreError as of any writing."""
        if len(self._waiting) >= MANY_TEXTS or self._characters >= MANY_CHARACTERS:
            self.write()

    def write(self) -> None:
        """Write all that waits."""
        if self._waiting:
            self._store.keep_texts(self._waiting.values())
        self._waiting.clear()
        self._characters = 0
