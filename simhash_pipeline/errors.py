"""The error tree. Each message names the thing, its value and the rule that it breaks.

SimhashError                           a file named to a command can't be read or written
├── OptionsError (also a ValueError)   options break their rules; one message names all
├── PageError                          one page can't be judged; its item is kept, the crawl goes on
├── ReaderError                        no process for pages can be started; a thread is used
├── DropLogError                       the drop log can't be used; the crawl stops
├── ArchiveError                       an archive can't be read or written; no result is written
└── StoreError                         the store can't be used; the crawl stops
    ├── StoreDamaged                   its file is damaged; nothing is repaired or removed
    ├── StoreLost                      the connection was lost for too long
    └── StoreMismatch                  it was made with other fingerprint options
"""

START_OVER = "restore a copy of the store, or move it away to start over"


class SimhashError(Exception):
    """Anything this package raises on purpose."""


class OptionsError(SimhashError, ValueError):
    """One or more options break their rules."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        return "; ".join(self.faults)


class PageError(SimhashError):
    """The page can't be fingerprinted; `kind` is one word for the stats."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)  # both, so that the error can be pickled
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


class ReaderError(SimhashError):
    """No process that reads pages can be started."""


class DropLogError(SimhashError):
    """The drop log can't be opened, written or read."""


class ArchiveError(SimhashError):
    """An archive can't be read, or its result can't be written."""


class StoreError(SimhashError):
    """The store can't be opened, read or written."""


class StoreDamaged(StoreError):
    """The store's file is damaged."""


class StoreLost(StoreError):
    """The connection to the store's server was lost and did not come back in time."""


class StoreMismatch(StoreError):
    """The store's fingerprints were made with other options."""
