"""`scrapy simhash settings`: what is in force, from where, and what a late setting means."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from simhash_pipeline import Options, open_store
from simhash_pipeline.drop_log import DropLog
from simhash_pipeline.page.stamp import stamp_for
from tests.stores.pages import keep, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.simhash_command import Simhash

SPIDER = """
import scrapy

class News(scrapy.Spider):
    name = "news"
    simhash_unchanged = "drop"
    custom_settings = {"SIMHASH_CONTENT_DISTANCE": 2}
"""


def project(folder: Path) -> Path:
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine\n")
    (folder / "mine.py").write_text(
        'BOT_NAME = "mine"\nSPIDER_MODULES = ["crawls"]\nSIMHASH_SCOPE = "site"\n'
    )
    (folder / "crawls.py").write_text(SPIDER)
    return folder


def test_each_setting_has_the_place_where_it_is_set(
    simhash_in_project: Simhash, tmp_path: Path
) -> None:
    given = ("-s", "SIMHASH_PRESET=mfonda", "-s", "SIMHASH_STORE=redis://:secret@localhost:1")
    result = simhash_in_project(project(tmp_path), "settings", "--spider", "news", *given, "--json")
    settings = json.loads(result.stdout)["settings"]
    assert {name: (one["value"], one["source"]) for name, one in settings.items()} == {
        "SIMHASH_CONTENT_DISTANCE": (2, "custom_settings"),
        "SIMHASH_SCOPE": ("site", "settings.py"),
        "SIMHASH_UNCHANGED": ("drop", "an attribute of the spider"),
        "SIMHASH_STORE": ("redis://***@localhost:1", "-s"),
        "SIMHASH_PRESET": ("mfonda", "-s"),
        "SIMHASH_SEGMENTER": ("ascii-words", "SIMHASH_PRESET"),
        "SIMHASH_NGRAMS": ([1], "SIMHASH_PRESET"),
    }


def test_a_late_setting_says_from_when_it_holds(
    simhash_in_project: Simhash, tmp_path: Path
) -> None:
    folder = project(tmp_path) / ".scrapy" / "simhash"
    folder.mkdir(parents=True)
    with open_store(f"sqlite:///{folder}/news.sqlite") as store:
        store.stamp(stamp_for(Options()))
        keep(store, page("https://a.org/1", 1))
    log = DropLog(folder / "news.drops.jsonl", run="1", spider="news", options=Options())
    log.write_run({"empty": 1})
    log.close()
    again = "items of stored pages may come out once more"
    for late, said in (
        ("SIMHASH_KEEP_TEXT=True", "SIMHASH_KEEP_TEXT changed: this holds for pages judged from"),
        ("SIMHASH_ITEM_FIELDS=sku", f"pages judged from now on; {again}"),
        ("SIMHASH_CONTENT_DISTANCE=1", "1 page; what you change holds from the next crawl on"),
    ):
        told = simhash_in_project(tmp_path, "settings", "--spider", "news", "-s", late).stdout
        assert said in told
    unknown = simhash_in_project(tmp_path, "settings", "--spider", "nwes")
    assert unknown.returncode == 2
    assert "there is no spider 'nwes' here; there are news" in unknown.stderr


def test_without_a_project_all_have_their_defaults(simhash: Simhash, tmp_path: Path) -> None:
    assert simhash(tmp_path, "settings").stdout == "All settings have their defaults.\n"
    table = simhash(tmp_path, "settings", "--all").stdout.splitlines()
    assert table[0].split() == ["SIMHASH_ENABLED", "True", "default"]


def test_a_setting_of_fingerprints_says_what_refuses_it(simhash: Simhash, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/seen.sqlite") as store:
        store.stamp(stamp_for(Options()))
        for number in range(3):
            keep(store, page(f"https://a.org/{number}", number, seen_at=int(time.time())))
    late = "SIMHASH_NGRAMS=1"
    told = simhash(tmp_path, "settings", "--store", "seen.sqlite", "-s", late).stdout.splitlines()
    refused = "a crawl refuses it: it holds fingerprints made with other options: ngrams [1, 2]"
    assert told[1:] == [
        "",
        "store seen.sqlite:",
        f"  3 pages; {refused} (now [1]); use those options again, or another store",
    ]
