"""`simhash judge`: pages in, verdicts out, line by line, as another program asks for them."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from simhash_pipeline import Judge, open_store
from simhash_pipeline.archive.feeds import MAX_ROW_BYTES
from simhash_pipeline.cli.judge import _record
from simhash_pipeline.errors import PageError
from tests.archive.archives import OTHER, PAGES, STORY, html, page, write_json_lines
from tests.commands_page import KEYS
from tests.documents import DOCS
from tests.skipping import skip_aloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.cli.simhash_command import Simhash

SCRIPTS = Path(sys.executable).parent


class Pipe:
    """A running command; each line is answered before the next is written."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._lines, self._answers = process.stdin, process.stdout

    def write(self, line: str) -> None:
        self._lines.write(line + "\n")
        self._lines.flush()

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._answers.readline())
        return answer

    def ask(self, record: object) -> dict[str, Any]:
        self.write(json.dumps(record))
        return self.answer()


@contextmanager
def running(directory: Path, *arguments: str) -> Iterator[Pipe]:
    command = [sys.executable, "-W", "error", str(SCRIPTS / "simhash"), "judge", *arguments]
    with subprocess.Popen(
        command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Pipe(process)
        if process.stdin is not None:
            process.stdin.close()
        assert process.wait() in (0, -9)


class Judged(Protocol):
    """The answers to lines, or to the JSON of other objects, by a command in this process."""

    def __call__(self, lines: Iterable[object], *arguments: str) -> list[dict[str, Any]]: ...


@pytest.fixture
def judged(simhash: Simhash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    def run(lines: Iterable[object], *arguments: str) -> list[dict[str, Any]]:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        file = io.BytesIO("".join(f"{text}\n" for text in texts).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        told = simhash(tmp_path, "judge", *arguments)
        answers = [json.loads(line) for line in told.stdout.splitlines()]
        assert told.returncode == 0
        if told.stderr:  # see the test of this warning
            assert told.stderr.startswith("No item values: ")
            assert any(one.get("dropped") for one in answers)
        return answers

    return run


@pytest.mark.parametrize(("more", "warns"), [({}, True), ({"price": "200"}, False)])
def test_drops_of_pages_without_item_values_are_worth_a_warning(
    simhash: Simhash, tmp_path: Path, more: dict[str, str], warns: bool
) -> None:
    lines = [{"url": f"http://a.example/{n}", "html": html(STORY), **more} for n in range(2)]
    pages = write_json_lines(tmp_path / "pages.jsonl", lines)
    told = simhash(tmp_path, "judge", pages.name)
    assert '"dropped": true' in told.stdout
    assert told.stderr.startswith("No item values: pages that differ in little" * warns)
    assert bool(told.stderr) is warns


def stored(path: Path) -> list[str]:
    """The URLs of the pages that the store keeps for the next run."""
    with open_store(str(path), tentative=True) as store:
        with Judge(store) as judge:  # the first page that is judged removes those of dead processes
            judge.forget(judge.judge("http://last.example/", f"<p>{OTHER * 2}"))
        return [each.url for each in store.pages()]


def test_each_line_is_answered_at_once_and_in_order(tmp_path: Path) -> None:
    with running(tmp_path) as pipe:
        answers = [pipe.ask(each) for each in PAGES]
    assert [(each["url"][17:], each["reason"], each["twin_url"]) for each in answers] == [
        ("a", "new", None),
        ("a-again", "content", "http://a.example/a"),
        ("b", "new", None),
        ("b-again", "content", "http://a.example/b"),
    ]
    assert [each["dropped"] for each in answers] == [False, True, False, True]


def test_a_file_of_pages_may_be_named(simhash: Simhash, tmp_path: Path) -> None:
    write_json_lines(tmp_path / "pages.jsonl", PAGES)
    answers = simhash(tmp_path, "judge", "pages.jsonl").stdout.splitlines()
    assert [json.loads(line)["dropped"] for line in answers] == [False, True, False, True]


def test_the_keys_of_an_answer_are_those_in_the_documents(judged: Judged) -> None:
    promised = [
        re.findall("`(.*?)`", re.sub(r"\(.*?\)", "", kind)) for kind in KEYS["judge"].split(";")
    ]
    answers = judged([PAGES[0], {}, {"confirm": PAGES[0]["url"]}], "--tentative")
    assert list(map(list, answers)) == promised


def test_what_is_no_page_has_an_error_in_its_place_and_the_next_is_judged(judged: Judged) -> None:
    bad: list[tuple[object, str]] = [
        ("", "no_json"),
        ("{", "no_json"),
        ("[1]", "no_json"),
        ("[" * 100_000, "no_json"),
        ({"html": html(STORY)}, "no_url"),
        ({"url": 7, "html": html(STORY)}, "no_url"),
        ({"url": "http://a.example/1"}, "no_html"),
        ({"url": "http://a.example/1", "html": 7}, "wrong_type"),
        ({"url": "http://a.example/\ud800", "html": html(STORY)}, "bad_url"),
        ({"confirm": "http://a.example/1"}, "not_pending"),
    ]
    good = [page(str(number), f"{STORY} {number} " * 2) for number in range(len(bad))]
    answers = judged(chain.from_iterable(zip((line for line, _ in bad), good, strict=True)))
    assert [each["error"] for each in answers[::2]] == [kind for _, kind in bad]
    assert not any("dropped" in each for each in answers[::2])
    assert [each["url"] for each in answers[1::2]] == [each["url"] for each in good]
    assert all("dropped" in each for each in answers[1::2])


def test_a_line_of_100_mb_has_an_error_in_its_place_and_the_next_is_judged(judged: Judged) -> None:
    too_long = '{"url": "http://a.example/long", "html": "' + "x" * 100_000_000 + '"}'
    longest = "x" * (MAX_ROW_BYTES - 1)
    answers = judged([too_long, PAGES[0], longest, PAGES[1], "x" * MAX_ROW_BYTES])
    assert [each.get("error", each.get("reason")) for each in answers] == [
        *("too_long", "new", "no_json", "content", "too_long"),
    ]


def test_settings_and_the_store_are_those_that_are_named(judged: Judged, tmp_path: Path) -> None:
    def reasons(number: int, *arguments: str) -> str:
        (answer,) = judged([PAGES[number]], *arguments)
        return str(answer["reason"])

    by_url = f"SIMHASH_STORE=sqlite:///{tmp_path}/seen.sqlite"
    assert reasons(0, "-S", "seen.sqlite") == "new"
    assert reasons(0, "-s", by_url) == "unchanged"
    assert reasons(1, "-S", "seen.sqlite") == "content"
    assert reasons(1, "-S", "seen.sqlite", "-s", "SIMHASH_NAMESPACE=other") == "new"
    assert reasons(1) == "new"  # in memory


def test_edits_of_a_page_that_was_dropped_come_out(judged: Judged) -> None:
    """As in a crawl; times are whole seconds."""
    copies = [page("copy"), page("copy", f"{STORY} Nine"), page("copy", f"{STORY} Ten")]
    assert judged([page("a"), copies[0]], "-S", "seen.sqlite")[1]["dropped"]
    for edited in copies[1:]:
        time.sleep(1.1)
        first, second = judged([page("a"), edited], "-S", "seen.sqlite")
        assert (first["reason"], second["reason"]) == ("unchanged", "changed")


def test_pages_that_were_not_seen_for_an_age_are_forgotten_first(
    judged: Judged, tmp_path: Path
) -> None:
    with open_store(str(tmp_path / "seen.sqlite")) as store:
        Judge(store, clock=lambda: 1_000.0).judge(PAGES[0]["url"], PAGES[0]["html"])
    (answer,) = judged([PAGES[1]], "-S", "seen.sqlite", "-s", "SIMHASH_EXPIRE_AFTER=1d")
    assert answer["reason"] == "new"


def test_a_text_is_judged_where_there_is_no_html(judged: Judged) -> None:
    text = {"url": "http://b.example/2", "title": "A page", "text": STORY}
    both = {**text, "url": "http://b.example/3", "html": html(OTHER)}
    answers = judged([page("1"), text, both])
    assert [each["twin_url"] for each in answers] == [None, "http://a.example/1", None]


def test_a_page_that_takes_too_long_to_read_is_an_error_and_the_next_is_judged(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "endless.py").write_text(
        "import time\n"
        "def text(tree):\n"
        "    while 'never' in (text := ' '.join(tree.itertext())): time.sleep(1)\n"
        "    return text\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings = ("-s", "SIMHASH_EXTRACTOR=endless.text", "-s", "SIMHASH_PAGE_TIMEOUT_SECS=1")
    answers = judged([page("1", f"never {STORY}"), page("2")], *settings)
    assert [each.get("error", each.get("reason")) for each in answers] == ["timeout", "new"]


def test_a_killed_judge_remembers_no_page_that_was_not_confirmed(tmp_path: Path) -> None:
    seen = tmp_path / "seen.sqlite"
    with running(tmp_path, "-S", "seen.sqlite", "--tentative") as pipe:
        pipe.ask(PAGES[0])
        pipe.process.kill()
    assert stored(seen) == []
    with running(tmp_path, "-S", "seen.sqlite") as pipe:
        pipe.ask(PAGES[0])  # confirmed with the next page
        pipe.ask(PAGES[1])
        pipe.process.kill()
    assert stored(seen) == ["http://a.example/a"]


def test_a_page_counts_as_seen_once_it_is_confirmed_and_not_if_it_is_forgotten(
    tmp_path: Path,
) -> None:
    with running(tmp_path, "-S", "seen.sqlite", "--tentative") as pipe:
        first, second, other, _ = PAGES
        assert not pipe.ask(first)["provisional"]
        assert pipe.ask(second)["provisional"]
        assert pipe.ask({"forget": first["url"]}) == {"url": first["url"], "done": "forget"}
        assert pipe.ask(second)["reason"] == "new"
        assert pipe.ask({"confirm": second["url"]}) == {"url": second["url"], "done": "confirm"}
        assert pipe.ask({"confirm": second["url"]})["error"] == "not_pending"
        again = pipe.ask(first)
        assert (again["twin_url"], again["provisional"]) == (second["url"], False)
        pipe.ask(other)  # never confirmed
    assert stored(tmp_path / "seen.sqlite") == [second["url"]]


def test_a_page_that_another_process_has_not_confirmed_is_provisional(tmp_path: Path) -> None:
    arguments = ("-S", "seen.sqlite", "--tentative")
    with running(tmp_path, *arguments) as one, running(tmp_path, *arguments) as two:
        one.ask(PAGES[0])
        assert two.ask(PAGES[1])["provisional"]
        one.ask({"confirm": PAGES[0]["url"]})
        one.ask(PAGES[2])  # writes what was confirmed
        assert not two.ask(PAGES[1])["provisional"]


def test_a_store_that_fails_ends_the_command_with_a_line(
    simhash: Simhash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no.sqlite").write_text("no store " * 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}\n")))
    told = simhash(tmp_path, "judge", "-S", "no.sqlite")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)


def needs(program: str) -> str:
    """The path of a program; under CI its absence is a failure."""
    found = shutil.which(program)
    if found is None:
        skip_aloud(f"the how-to beside any crawler runs {program}, which is not installed")
    return found


def examples(language: str) -> list[str]:
    text = (DOCS / "howto/any-crawler.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


class Site(BaseHTTPRequestHandler):
    """Serves PAGES by their last names."""

    def do_GET(self) -> None:
        body = next(each["html"] for each in PAGES if each["url"].endswith(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.mark.ci
def test_the_how_to_runs_in_node(tmp_path: Path) -> None:
    node = needs("node")
    module, crawl = examples("js")
    assert 'import { ask, end } from "./near-duplicates.mjs";' in crawl
    (tmp_path / "near-duplicates.mjs").write_text(module)
    (tmp_path / "crawl.mjs").write_text("""
import { ask, end } from "./near-duplicates.mjs";
const names = ["a", "a-again", "b", "b-again"];
const pages = names.map(async (name) => {
  const url = `${process.argv[2]}/${name}`;
  return { url, html: await (await fetch(url)).text() };
});
const verdicts = (await Promise.all(pages)).map(ask); // all at once
for (const verdict of await Promise.all(verdicts)) console.log(verdict.reason, verdict.dropped);
end();
""")
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever).start()
        told = subprocess.run(
            [node, "crawl.mjs", f"http://127.0.0.1:{server.server_port}"],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        server.shutdown()
    assert told.returncode == 0
    assert told.stderr.startswith("No item values: ")  # nothing else
    assert told.stdout.splitlines() == ["new false", "content true"] * 2


def test_the_how_to_runs_in_a_shell(tmp_path: Path) -> None:
    needs("jq")
    (one_page, cleaning) = examples("sh")[0].split("\n\n")
    write_json_lines(tmp_path / "pages.jsonl", PAGES)
    (tmp_path / "a.html").write_text(html(STORY))
    environment = {
        **os.environ,
        "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}",
        "url": f"file://{tmp_path}/a.html",
    }

    def shell(script: str) -> str:
        return subprocess.run(
            ["sh", "-ec", script],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    shell(cleaning)
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert kept == [PAGES[0], PAGES[2]]
    if shutil.which("curl"):
        assert shell(one_page) == "content\n"


def test_the_drop_log_is_read_by_dropped_explain_and_report(
    judged: Judged, simhash: Simhash, tmp_path: Path
) -> None:
    arguments = ("--store", "seen.sqlite", "--drop-log", "mine.drops.jsonl")
    judged([*PAGES, {"url": "none"}], *arguments, "-s", "SIMHASH_KEEP_TEXT=1")
    told = simhash(tmp_path, "dropped", "mine.drops.jsonl").stdout
    assert "2 of 5 pages dropped" in told
    assert "2 kept; 1 kept that could not be judged" in told
    why = simhash(
        tmp_path, "explain", PAGES[1]["url"], "mine.drops.jsonl", "--store", "seen.sqlite"
    )
    assert "main text near that of a kept page" in why.stdout
    assert "Changes of words in the main text (as it was judged): 0" in why.stdout
    report = simhash(tmp_path, "report", "mine.drops.jsonl", "--store", "seen.sqlite")
    assert report.stdout.startswith("report.html: 2 drops")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_drop_log_on_a_full_disk_ends_the_command_as_a_store_does(
    simhash: Simhash, tmp_path: Path
) -> None:
    """The page that could not be logged is not stored, so its item isn't lost."""
    write_json_lines(tmp_path / "pages.jsonl", PAGES)
    arguments = ("pages.jsonl", "--store", "seen.sqlite", "--drop-log", "/dev/full")
    told = simhash(tmp_path, "judge", *arguments)
    assert told.returncode == 2
    assert "the drop log /dev/full can't be written: No space left on device" in told.stderr
    answered = [json.loads(line)["url"] for line in told.stdout.splitlines()]
    assert answered == stored(tmp_path / "seen.sqlite") == [PAGES[0]["url"]]


def test_what_is_printed_is_json_whatever_the_line_holds(judged: Judged) -> None:
    """NaN is no JSON, and other languages' parsers refuse it."""
    lines = ['{"url": NaN, "html": "x"}', '{"url": 1e999, "html": "x"}']
    for answer in judged([*lines, '{"url": "http://a.example/n", "html": NaN, "text": "x"}']):
        assert "NaN" not in json.dumps(answer)
        assert "Infinity" not in json.dumps(answer)


def test_a_long_line_of_many_values_is_refused_before_they_are_made() -> None:
    """In 63 MB there is room for 20 million lists, which take 1.7 GB."""
    with pytest.raises(PageError, match="over 2,000,000 commas"):
        _record(b'{"more": [' + b"[]," * 1_000_001 + b"0]}")
    assert _record(json.dumps({"html": "0," * 1_500_000}).encode()).keys() == {"html"}
