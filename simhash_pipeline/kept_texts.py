"""The texts of judged pages, on their way to the store: by KEEP_TEXT."""

import time

from simhash_pipeline.page.fingerprint import PageFingerprint
from simhash_pipeline.page.source import ItemValues
from simhash_pipeline.stores.contract import PageText, Store
from simhash_pipeline.verdict import Verdict

# Texts that are written together: a killed crawl may lose these, and they are held in memory.
_MANY_TEXTS = 100
_MANY_CHARACTERS = 1_000_000
_MOST_VALUES, _VALUE_CHARS = 50, 100  # of an item: the report and `explain` show them


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
            item="" if item is None else "\n".join(map(_line, item.pairs[:_MOST_VALUES])),
        )
        self._characters += len(page.text) + len(page.left_out)

    def forget(self, verdict: Verdict) -> None:
        self._texts.pop((verdict.namespace, verdict.key), None)

    def write_many(self) -> None:
        """Write the texts if they are worth a transaction; StoreError as for any write."""
        if len(self._texts) >= _MANY_TEXTS or self._characters >= _MANY_CHARACTERS:
            self.write()

    def write(self) -> None:
        if self._texts:
            self._store.keep_texts(self._texts.values())
        self._texts.clear()
        self._characters = 0


def _line(pair: tuple[str, str, str]) -> str:
    name, value, _ = pair
    return ": ".join(" ".join(text[:_VALUE_CHARS].split()) for text in (name, value.lstrip("\0")))
