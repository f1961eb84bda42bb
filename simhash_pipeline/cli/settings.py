"""`scrapy simhash settings`: what is set, where, and what it means for the stored pages."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from simhash_pipeline.cli.command import Command, flag, print_result
from simhash_pipeline.cli.resolve import NamedStore, resolve_stores
from simhash_pipeline.errors import StoreError, StoreMismatch
from simhash_pipeline.options import PREFIX, Options, preset_options
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.stores.contract import check_stamp, shown_url
from simhash_pipeline.terminal import Grid, Line, progress

# By Scrapy's priority of a setting. A spider's attributes have that of the command line.
_SOURCES = {20: "settings.py", 30: "custom_settings", 40: "an attribute of the spider"}


class SettingsCommand(Command):
    epilog = (
        "Prints the settings that differ from their defaults, then what they mean for each store: "
        "whether its fingerprints were made with others, and what its pages lack."
    )
    takes_a_store = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        flag(parser, "--all", "print the defaults too")

    def run(self, arguments: argparse.Namespace, settings: BaseSettings) -> int:
        options = Options.from_settings(settings)
        given = {each.partition("=")[0] for each in arguments.set}
        found = {}
        values = dataclasses.asdict(options) | {"store": shown_url(options.store)}
        for name, value in values.items():
            setting = f"{PREFIX}{name.upper()}"
            source = _SOURCES.get(settings.getpriority(setting) or 0, "default")
            if source == "default" and name in preset_options(options.preset):
                source = f"{PREFIX}PRESET"
            source = "-s" if setting in given else source
            if arguments.all or source != "default":
                found[setting] = {"value": value, "source": source}
        notes = {}
        with suppress(UsageError):  # no crawl has left a store
            for named in resolve_stores(arguments, settings):
                if named.is_there:
                    notes[named.name] = _notes(named, options)
        print_result({"settings": found, "stores": notes}, _lines(found, notes), arguments)
        return 0


def _lines(
    settings: Mapping[str, Mapping[str, Any]], stores: Mapping[str, list[str]]
) -> Iterator[Line]:
    rows = [(name, repr(one["value"]), one["source"]) for name, one in settings.items()]
    yield Grid(rows, wraps=1) if rows else "All settings have their defaults."
    for store, notes in stores.items():
        yield ""
        yield f"store {store}:"
        yield from (f"  {note}" for note in notes)


def _notes(named: NamedStore, options: Options) -> list[str]:
    """What these settings mean for the pages of a store."""
    notes = []
    try:
        with named.existing() as store:
            pages = len(store)
            untold = pages - sum(1 for _ in store.texts()) if options.keep_text else 0
            silent = options.item_fields is not None and sum(
                page.item_values is None for page in progress(store.pages(), "pages")
            )
            if pages and (stamp := store.made_with()) is not None:
                check_stamp("it", stamp, stamp_for(options))
    except StoreMismatch as error:
        notes.append(f"a crawl refuses it: {error}")
    except StoreError as error:
        return [str(error)]
    notes.append(f"{pages:,} pages; changed settings apply from now on; past drops stay dropped")
    if untold:
        notes.append(f"{untold:,} pages were stored without their texts (SIMHASH_KEEP_TEXT)")
    if silent:
        notes.append(f"{silent:,} pages were stored without item values (SIMHASH_ITEM_FIELDS)")
    return notes
