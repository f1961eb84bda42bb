"""`scrapy simhash store …`: which store, looking into it, looking after it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simhash_pipeline import Options, open_store
from simhash_pipeline.cli.simhash import COMMANDS
from simhash_pipeline.page.stamp import stamp_for
from simhash_pipeline.repeated_text import UNKNOWN, with_template
from simhash_pipeline.stores.contract import PageText
from tests.cli.simhash_command import Simhash
from tests.stores.pages import keep, page

SEEN = ("-S", "seen.sqlite")
STORE_COMMANDS = [name.partition(" ")[2] for name in COMMANDS if name.startswith("store ")]


def fill(path: Path, *urls: str, **more: Any) -> None:
    """A store of these pages, the first seen now and each other a day earlier."""
    now = int(time.time())
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_store(f"sqlite:///{path}") as store:
        store.stamp(stamp_for(Options()))
        for days, url in enumerate(urls):
            keep(store, page(url, days, seen_at=now - days * 86_400, **more))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is in no Scrapy project, with a store of three pages."""
    fill(tmp_path / "seen.sqlite", "https://a.org/1", "https://a.org/2", "https://a.org/3")
    return tmp_path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A Scrapy project in which the spider `news` has crawled two pages."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").write_text('BOT_NAME = "harbour"\n')
    fill(tmp_path / ".scrapy/simhash/news.sqlite", "https://a.org/1", "https://a.org/2")
    return tmp_path


@pytest.fixture
def store(simhash: Simhash) -> Simhash:
    return lambda directory, *arguments: simhash(directory, "store", *arguments)


def told(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def urls(path: Path) -> list[str]:
    with open_store(f"sqlite:///{path}") as store:
        return [stored.url for stored in store.pages()]


# Which store


def test_in_a_project_the_only_store_is_taken_and_named(
    simhash_in_project: Simhash, project: Path
) -> None:
    result = simhash_in_project(project, "store", "forget", "https://a.org/2")
    assert (result.returncode, result.stderr) == (0, "store: .scrapy/simhash/news.sqlite\n")
    assert result.stdout == ".scrapy/simhash/news.sqlite: 1 page forgotten, 1 left\n"


def test_of_several_stores_one_must_be_named(store: Simhash, project: Path) -> None:
    fill(project / ".scrapy/simhash/the%20shop.sqlite", "https://b.org/1")
    result = store(project, "forget", "https://b.org/1")
    assert (result.returncode, result.stdout) == (2, "")
    said = "there are 2 stores here; name one by --store: .scrapy/simhash/news.sqlite, "
    assert said in result.stderr
    named = store(project, "forget", "https://b.org/1", "--spider", "the shop", "--json")
    (found,) = told(named)
    assert (found["forgotten"], found["pages"]) == (1, 0)


def test_a_time_that_is_none_ends_no_command(store: Simhash, outside: Path) -> None:
    """Another program may have written it."""
    with closing(sqlite3.connect(outside / "seen.sqlite")) as file, file:
        file.execute("UPDATE page SET seen_at = 1e14")
    (record,) = told(store(outside, "info", *SEEN, "--json"))
    assert record["seen_at"] == "100000000000000.0"


def test_info_tells_every_store_of_a_project(store: Simhash, project: Path) -> None:
    fill(project / ".scrapy/simhash/shop.sqlite", "https://b.org/1")
    both = told(store(project, "info", "--json"))
    assert [(one["store"], one["pages"]) for one in both] == [
        (".scrapy/simhash/news.sqlite", 2),
        (".scrapy/simhash/shop.sqlite", 1),
    ]


def test_the_setting_goes_before_the_stores_of_the_spiders(store: Simhash, project: Path) -> None:
    fill(project / "shared.sqlite", "https://c.org/1", "https://c.org/2")
    setting = ("-s", "SIMHASH_STORE=sqlite:///shared.sqlite")
    result = store(project, "forget", "https://c.org/1", "--json", *setting)
    assert result.stderr == "store: shared.sqlite\n"
    assert json.loads(result.stdout)["pages"] == 1
    of_spider = store(project, "forget", "https://c.org/2", "--spider", "news", "--json", *setting)
    assert [one["pages"] for one in told(of_spider)] == [0]


@pytest.mark.parametrize("command", [name for name in STORE_COMMANDS if name != "copy"])
def test_every_command_of_one_store_takes_it_in_the_same_way(
    store: Simhash, outside: Path, command: str
) -> None:
    result = store(outside, command, "-h")
    assert re.search("-S( STORE)?, --store STORE", result.stdout)
    assert "--spider SPIDER" in result.stdout
    assert "--json" in result.stdout


@pytest.mark.parametrize("command", ["info", "forget https://a.org/2"])
def test_a_store_is_named_by_position_too(store: Simhash, outside: Path, command: str) -> None:
    word, *url = command.split()
    result = store(outside, word, "seen.sqlite", *url)
    assert (result.returncode, result.stderr) == (0, "")


# Looking into one


def test_info_says_what_there_is_and_how_it_was_made(store: Simhash, outside: Path) -> None:
    with open_store(f"sqlite:///{outside / 'seen.sqlite'}") as opened:
        keep(opened, page("https://a.org/thin", None, namespace="test", digest=b"d" * 8))
    (record,) = told(store(outside, "info", *SEEN, "--json"))
    size = (outside / "seen.sqlite").stat().st_size
    assert record.pop("seen_at").endswith("Z")
    assert record == {
        "store": "seen.sqlite",
        "pages": 4,
        "thin": 1,
        "namespaces": {"": 3, "test": 1},
        "first_seen": "1970-01-01T00:16:40Z",
        "texts": 0,
        "bytes": size,
        "made_with": stamp_for(Options()),
        "faults": [],
    }
    words = store(outside, "info", *SEEN).stdout.splitlines()
    assert words[:4] == [
        "store       seen.sqlite",
        "pages       4",
        "thin        1",
        "namespaces  '' 3, test 1",
    ]
    assert words[-2:] == ["made with   the default options", "damage      none"]


def test_info_says_how_many_texts_there_are(store: Simhash, outside: Path) -> None:
    with open_store(f"sqlite:///{outside / 'seen.sqlite'}") as opened:
        texts = [PageText("", f"https://a.org/{n}", "Fog", "fog " * 1_000, 0) for n in range(3)]
        opened.keep_texts(texts)
    (record,) = told(store(outside, "info", *SEEN, "--json"))
    assert record["texts"] == 3
    words = store(outside, "info", *SEEN).stdout.splitlines()
    assert "texts       3" in words


def test_info_names_the_options_that_are_no_defaults(store: Simhash, outside: Path) -> None:
    with open_store(f"sqlite:///{outside / 'other.sqlite'}") as opened:
        opened.stamp(stamp_for(Options(ngrams=(3,), top_n=5)))
    result = store(outside, "info", "-S", "other.sqlite")
    assert "pages      0\n" in result.stdout
    assert "the default options but ngrams [3], top_n 5\n" in result.stdout


def test_what_a_page_brings_cannot_steer_the_terminal(store: Simhash, outside: Path) -> None:
    fill(outside / "evil.sqlite", "https://a.org/1", namespace="\x1b[2J")
    words = store(outside, "info", "-S", "evil.sqlite").stdout
    assert "namespaces  \\u001b[2J 1\n" in words


# Looking after one


def test_info_tells_damage_and_leaves_it(store: Simhash, outside: Path) -> None:
    path = outside / "seen.sqlite"
    damaged = bytearray(path.read_bytes())
    damaged[8_192:12_288] = b"\xff" * 4_096
    path.write_bytes(damaged)
    result = store(outside, "info", *SEEN)
    assert (result.returncode, result.stderr) == (1, "")
    assert "Restore a copy" in result.stdout
    assert path.read_bytes() == damaged


def test_info_tells_of_a_store_too_damaged_to_be_opened(store: Simhash, outside: Path) -> None:
    path = outside / "seen.sqlite"
    cut = path.read_bytes()[: path.stat().st_size // 8192 * 4096]
    path.write_bytes(cut)
    result = store(outside, "info", *SEEN, "--json")
    assert (result.returncode, result.stderr) == (1, "")
    told = {"store": "seen.sqlite", "faults": ["too damaged to be opened"]}
    assert json.loads(result.stdout) == told
    assert path.read_bytes() == cut


def test_forget_forgets_what_was_not_seen_for_so_long(store: Simhash, outside: Path) -> None:
    none = store(outside, "forget", "--unseen", "2160m", "--namespace", "a", *SEEN)
    assert none.stdout == "seen.sqlite: 0 pages forgotten, 3 left\n"
    result = store(outside, "forget", "--unseen", "2160m", *SEEN)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "seen.sqlite: 1 page forgotten, 2 left\n"
    long = f"https://a.org/{'long' * 99}"
    absent = store(outside, "forget", "seen.sqlite", long)
    assert (absent.returncode, absent.stderr) == (1, f"{long} is not stored\n")
    assert store(outside, "forget", long, *SEEN).stderr == absent.stderr
    assert urls(outside / "seen.sqlite") == ["https://a.org/1", "https://a.org/2"]


def test_forget_forgets_what_is_named_and_says_what_is_not_there(
    store: Simhash, outside: Path
) -> None:
    gone = store(outside, "forget", "https://a.org/2#top", "https://a.org/1", *SEEN)
    assert (gone.returncode, gone.stderr) == (0, "")
    assert gone.stdout == "seen.sqlite: 2 pages forgotten, 1 left\n"
    again = store(outside, "forget", "https://a.org/2", "https://a.org/3", *SEEN)
    assert (again.returncode, again.stderr) == (1, "https://a.org/2 is not stored\n")
    assert urls(outside / "seen.sqlite") == []


def test_forget_looks_in_one_namespace(store: Simhash, outside: Path) -> None:
    other = store(outside, "forget", "https://a.org/1", *SEEN, "-s", "SIMHASH_NAMESPACE=test")
    assert other.returncode == 1
    here = store(
        *(outside, "forget", "https://a.org/1", *SEEN, "--namespace", ""),
        *("-s", "SIMHASH_NAMESPACE=test"),
    )
    assert here.returncode == 0
    assert urls(outside / "seen.sqlite") == ["https://a.org/2", "https://a.org/3"]


@pytest.mark.skipif(sys.platform == "win32", reason="no ulimit")
def test_forget_names_a_disk_that_takes_nothing(outside: Path) -> None:
    """To look into such a store is possible, so it may be opened to read alone."""
    command = Path(sys.executable).with_name("simhash")
    forgetting = f"ulimit -f 0; exec {command} store forget seen.sqlite --all --yes"
    full = subprocess.run(
        ["sh", "-c", forgetting], cwd=outside, capture_output=True, text=True, check=False
    )
    assert (full.returncode, full.stderr.count("\n")) == (2, 1)
    assert "seen.sqlite: the disk can't be read or written (full, " in full.stderr
    assert len(urls(outside / "seen.sqlite")) == 3


def test_forget_all_forgets_nothing_unless_it_is_told_to(store: Simhash, outside: Path) -> None:
    refused = store(outside, "forget", "--all", *SEEN)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "seen.sqlite: to forget all 3 pages, add --yes" in refused.stderr
    assert len(urls(outside / "seen.sqlite")) == 3
    done = store(outside, "forget", "--all", *SEEN, "--yes")
    assert done.stdout == "seen.sqlite: 3 pages forgotten, 0 left\n"
    assert urls(outside / "seen.sqlite") == []


def test_forget_all_forgets_what_sites_repeat_in_a_store_named_by_its_whole_path(
    store: Simhash, outside: Path
) -> None:
    path = outside / "seen.sqlite"
    with open_store(f"sqlite:///{path}") as seen:
        seen.put_repeated_text("", "a.org", with_template(b"", UNKNOWN))
    result = store(outside, "forget", "--all", "--store", str(path), "--yes")
    assert result.returncode == 0
    with open_store(f"sqlite:///{path}") as seen:
        assert list(seen.all_repeated_text()) == []


@pytest.mark.parametrize(("answer", "exit_code", "left"), [("y", 0, 0), ("", 1, 3), ("no", 1, 3)])
def test_forget_all_asks_whoever_sits_at_the_terminal(
    store: Simhash,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    exit_code: int,
    left: int,
) -> None:
    ours, theirs = os.openpty()
    os.write(ours, f"{answer}\n".encode())
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        result = store(outside, "forget", "--all", *SEEN)
    os.close(ours)
    assert result.returncode == exit_code
    assert result.stderr == "seen.sqlite: forget all 3 pages for good? [y/N] "
    assert len(urls(outside / "seen.sqlite")) == left


def test_forget_all_of_a_namespace_leaves_the_others(store: Simhash, outside: Path) -> None:
    with open_store(f"sqlite:///{outside / 'seen.sqlite'}") as opened:
        for number in range(3_000):
            keep(opened, page(f"https://t.org/{number}", 9, namespace="test"))
    result = store(outside, "forget", "--all", *SEEN, "--namespace", "test", "--yes", "--json")
    assert told(result) == [{"store": "seen.sqlite", "forgotten": 3_000, "pages": 3}]
    assert len(urls(outside / "seen.sqlite")) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info"], "no crawl has left a store here; name one by --store"),
        (["info", "--spider", "news"], "there is no store at"),
        (["info", "-S", "nowhere.sqlite"], "there is no store at nowhere.sqlite"),
        (["info", "-S", "./empty"], "there is no store at empty"),
        (["info", "-S", "notes.txt"], "notes.txt: it is not an SQLite database, and was left"),
        (["info", "-S", "."], "is a directory; name a file in it"),
        (["info", "-S", "memory:"], "a store in memory is gone when its crawl ends"),
        (["info", "-S", "nodb://localhost"], "no store can be opened at 'nodb://localhost'"),
        (["info", *SEEN, "--spider", "news"], "not allowed with argument -S/--store"),
        (["info", *SEEN, "-s", "SIMHASH_TOP_N=0"], "SIMHASH_TOP_N is '0'"),
        (["forget", "http://[", *SEEN], "'http://[' is not a URL"),
        (["forget", *SEEN], "name URLs, --unseen AGE or --all"),
        (["forget", "https://a.org/1", "--all", *SEEN], "name URLs, --unseen AGE or --all"),
        (["forget", "notes.txt", "--all", *SEEN], "name one store, seen.sqlite or notes.txt"),
        (
            ["forget", "--unseen", "90", *SEEN],
            "s, m, h, d or w, as 90d, not '90'",
        ),
        (
            ["forget", "--unseen", "0s", *SEEN],
            "must be 1 or more, and s, m, h",
        ),
    ],
)
def test_bad_input_gets_one_line(
    store: Simhash, outside: Path, arguments: list[str], said: str
) -> None:
    (outside / "empty").touch()
    (outside / "notes.txt").write_text("no store\n" * 100)
    before = sorted(outside.iterdir())
    result = store(outside, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(outside.iterdir()) == before


def test_the_group_without_a_command_prints_its_help(store: Simhash, outside: Path) -> None:
    result = store(outside)
    assert (result.returncode, result.stderr) == (2, "")
    assert "usage: scrapy simhash store [-h] command ..." in result.stdout
