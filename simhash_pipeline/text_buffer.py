"""Texts of judged pages on their way into the store, for crawls and for `simhash judge`."""

from __future__ import annotations

import time

from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.source import ItemValues
from simhash_pipeline.stores.contract import PageText, Store
from simhash_pipeline.verdict import Verdict

# Texts that are written together: a killed crawl may lose these, and they are held in memory.
MANY_TEXTS = 100
MANY_CHARACTERS = 1_000_000
MOST_VALUES, VALUE_CHARS = 50, 100  # of an item: the report and `explain` show them


class TextBuffer:
    """Holds texts until they are worth a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[tuple[str, str], PageText] = {}  # by namespace and canonical URL
        self._characters = 0

    def add(self, verdict: Verdict, page: PageFingerprint, item: ItemValues | None) -> None:
        self._texts[verdict.namespace, verdict.key] = PageText(
            namespace=verdict.namespace,
            url=verdict.key,
            title=page.title,
            text=page.text,
            kept_at=time.time(),
            left_out=page.left_out,
            item="" if item is None else "\n".join(map(_line, item.pairs[:MOST_VALUES])),
        )
        self._characters += len(page.text) + len(page.left_out)

    def forget(self, verdict: Verdict) -> None:
        self._texts.pop((verdict.namespace, verdict.key), None)

    def write_many(self) -> None:
        """Write the texts if they are worth a transaction; StoreError as for any write."""
        if len(self._texts) >= MANY_TEXTS or self._characters >= MANY_CHARACTERS:
            self.write()

    def write(self) -> None:
        if self._texts:
            self._store.keep_texts(self._texts.values())
        self._texts.clear()
        self._characters = 0


def _line(pair: tuple[str, str]) -> str:
    name, value = (" ".join(text[:VALUE_CHARS].split()) for text in pair)
    return f"{name}: {value}"
