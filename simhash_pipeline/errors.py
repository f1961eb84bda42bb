"""The error tree; every message names the thing, its value and the rule.

SimhashError
├── OptionsError (also a ValueError)   options break their rules; all faults in one message
├── PageError                          one page can't be read; the crawl goes on and keeps the item
├── ReaderError                        no process to read pages can be had; they are read without it
├── DropLogError                       the drop log can't be used; the crawl stops
├── ArchiveError                       an archive can't be read or written; nothing of it is done
├── SheetError                         a sheet of pairs can't be read, or is of other pages
├── OutputError                        a file can't be written; what was there before stays
└── StoreError                         the store can't be used; the crawl stops
    ├── StoreDamaged                   its file is damaged; nothing of it is mended or removed
    ├── StoreLost                      it could be used, and its server has been gone for too long
    └── StoreMismatch                  the store was made with other fingerprint options
"""


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
    """The page can't be fingerprinted; `kind` is one word to count it by."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)  # both, so that it can be sent to another process
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


class ReaderError(SimhashError):
    """No process that reads pages can be begun."""


class DropLogError(SimhashError):
    """The drop log can't be opened, written or read."""


class ArchiveError(SimhashError):
    """An archive can't be read, or what came out of it can't be written."""


class SheetError(SimhashError):
    """The sheet isn't one, or isn't of these pages."""


class OutputError(SimhashError):
    """A file can't be written, or its name is no file's or that of one that is read."""


class StoreError(SimhashError):
    """The store can't be opened, read or written."""


class StoreDamaged(StoreError):
    """The store's file is damaged."""


class StoreLost(StoreError):
    """The store's server was there and is gone; it was waited for."""


class StoreMismatch(StoreError):
    """The store's fingerprints were made with other options."""
