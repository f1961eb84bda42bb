"""Pages read by a process: what comes back, what ends it, and what becomes of it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, Options
from simhash_pipeline.errors import PageError, ReaderError
from simhash_pipeline.page.reader import _BEGIN, Reader
from simhash_pipeline.page.source import Source
from tests.page.test_determinism import PINNED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URL = "http://a.example/"
STORY = f"<p>{' '.join(f'word{i}' for i in range(200))}</p>"
# A callable of a user that does as the page says.
CALLABLES = """
import os

import re

def tokens(text):
    return text.lower().split("o")

def weights(counts):
    return {feature: count ** 0.5 for feature, count in counts.items()}

def text(root):
    text = " ".join(root.itertext())
    print("found", text[:20])
    if "backtracks" in text:
        re.match("(a+)+$", "a" * 60 + "b")
    if "ends here" in text:
        os._exit(7)
    if "fails" in text:
        raise KeyError("no such box")
    return text
"""


def page(html: str | bytes) -> Source:
    return Source(html, URL)


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader(Options())
    yield reader
    reader.close()


@pytest.fixture
def users_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    (tmp_path / "users_own.py").write_text(CALLABLES)
    monkeypatch.syspath_prepend(tmp_path)
    reader = Reader(Options(extractor="users_own.text"))
    yield reader
    reader.close()


def process_of(reader: Reader) -> int:
    assert reader._process is not None
    return reader._process.pid


def is_there(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def test_a_process_makes_the_same_fingerprints(reader: Reader) -> None:
    here = Fingerprinter()
    for path in PINNED:
        source = Source(all_pages()[path].body, f"http://a.example{path}")
        assert reader.read(source) == here.read(source)
    chinese = f"<p>{'昨天上午，三艘渔船在大雾中安全返回港口。' * 20}</p>".encode("gb18030")
    text = Source(STORY, URL, is_text=True, title="Of tags")
    for source in (Source(chinese, URL, "gb2312"), text, page(STORY + "\ud800")):
        assert reader.read(source) == here.read(source)


def test_a_process_makes_the_same_fingerprints_by_the_callables_of_the_user(
    users_reader: Reader,
) -> None:
    options = Options(
        extractor="users_own.text",
        segmenter="users_own.tokens",
        weights="users_own.weights",
    )
    reader, here = Reader(options), Fingerprinter(options)
    for path in PINNED:
        source = page(all_pages()[path].body)
        assert reader.read(source) == here.read(source)
    reader.close()


def test_a_page_as_long_as_is_read_makes_the_same_fingerprints_within_the_limit_of_memory() -> None:
    paragraphs = (f"<p class=c{n}>word{n} term{n * 7}</p>" for n in range(150_000))
    html = "".join(paragraphs)
    assert len(html) > 5_000_000
    reader = Reader(Options())
    assert reader.read(page(html)) == Fingerprinter().read(page(html))
    reader.close()


def test_a_page_that_is_none_is_told_as_such_and_the_next_is_read(reader: Reader) -> None:
    with pytest.raises(PageError, match="binary data") as told:
        reader.read(page(b"\0\1\2\3" * 20))
    assert told.value.kind == "binary"
    assert reader.read(page(STORY)).tokens == 200


def test_a_callable_of_the_user_may_print_and_fail(users_reader: Reader) -> None:
    assert users_reader.read(page(STORY)).tokens == 200
    with pytest.raises(PageError, match=r"users_own.text failed: KeyError\('no such box'\)"):
        users_reader.read(page("<p>it fails</p>"))
    assert users_reader.read(page(STORY)).tokens == 200


def test_a_page_that_ends_the_process_is_told_and_the_next_begins_another(
    users_reader: Reader,
) -> None:
    with pytest.raises(PageError, match=r"ended with status 7$") as told:
        users_reader.read(page("<p>it ends here</p>"))
    assert told.value.kind == "reader_died"
    assert users_reader.read(page(STORY)).tokens == 200


def test_an_idle_process_that_is_killed_costs_no_page(reader: Reader) -> None:
    reader.read(page(STORY))
    killed = process_of(reader)
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    assert reader.read(page(STORY)).tokens == 200
    assert process_of(reader) != killed


def test_what_pauses_a_crawl_does_not_end_the_process(reader: Reader) -> None:
    reader.read(page(STORY))
    before = process_of(reader)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(before, number)
    assert reader.read(page(STORY)).tokens == 200
    assert process_of(reader) == before


def test_options_that_only_the_script_can_follow_are_refused_at_the_first_page() -> None:
    code = """
from simhash_pipeline import Options
from simhash_pipeline.errors import ReaderError
from simhash_pipeline.page.reader import Reader
from simhash_pipeline.page.source import Source
def text(root):
    return "text"
try:
    Reader(Options(extractor="__main__.text")).read(Source("<p>page</p>", ""))
except ReaderError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert "SIMHASH_EXTRACTOR is '__main__.text'; it can't be loaded" in result.stdout


def test_a_program_without_an_interpreter_begins_no_process(
    monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ReaderError, match="no process can read pages"):
        reader.read(page(STORY))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(ReaderError, match="no Python interpreter"):
        reader.read(page(STORY))


def test_a_closed_reader_leaves_no_process(reader: Reader) -> None:
    reader.read(page(STORY))
    pid = process_of(reader)
    reader.close()
    assert not is_there(pid)


def test_a_busy_process_whose_caller_does_nothing_ends_by_itself(
    users_reader: Reader, tmp_path: Path
) -> None:
    """A second after its limit, and not five."""
    soon = "\nfrom simhash_pipeline.page import reader\nreader._OWN_END_SECS = 1\n"
    (tmp_path / "users_own.py").write_text(CALLABLES + soon)
    options = Options(extractor="users_own.text", page_timeout_secs=1)
    command = [sys.executable, "-I", "-c", _BEGIN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (sys.path, options, page("<p>it backtracks</p>")):
            pickle.dump(message, process.stdin)
        process.stdin.flush()
        assert pickle.load(process.stdout) is None
        try:
            assert process.wait(timeout=30) == 1
        finally:
            process.kill()


def test_a_killed_caller_leaves_no_process() -> None:
    code = f"""
from simhash_pipeline import Options
from simhash_pipeline.page.reader import Reader
from simhash_pipeline.page.source import Source
reader = Reader(Options())
reader.read(Source({STORY!r}, ""))
print(reader._process.pid, flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as caller:
        assert caller.stdout is not None
        pid = int(caller.stdout.readline())
        assert is_there(pid)
        caller.kill()
    give_up = time.monotonic() + 30
    while is_there(pid) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not is_there(pid)
