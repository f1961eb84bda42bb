"""`scrapy simhash compare`: pages out of files, stdin and over the wire."""

from __future__ import annotations

import io
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from simhash_pipeline import Fingerprinter, Options
from tests.cli.simhash_command import Simhash
from tests.forked import scrapy_forked

WORDS = " ".join(f"word{i}" for i in range(200))
STORY = f"<html><head><title>A story</title></head><body><p>{WORDS}</p></body></html>"
RETOLD = STORY.replace("word100", "tale").replace("A story", "A story retold")
OTHER = STORY.replace("word", "term")
CHINESE = "<title>潮水</title><body><p>" + "五月的潮水涨到下午四点。" * 20
PRINTED = STORY.replace("</head>", "<link rel=canonical href=/story></head>").replace(
    "<p>", "<p>x "
)
SERVED = {
    "/story": ("text/html", STORY.encode()),
    "/chinese": ("text/html; charset=gb18030", CHINESE.encode("gb18030")),
    "/hidden/story": ("text/html", STORY.encode()),
    "/print": ("text/html", PRINTED.encode()),
    "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /hidden/\n"),
}


@dataclass
class Server:
    url: str
    user_agents: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.user_agents.append(self.headers["User-Agent"])
            if self.path == "/moved":
                self.send_response(301)
                self.send_header("Location", "/story")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            content_type, body = SERVED.get(self.path, ("text/html", b"<p>not here"))
            self.send_response(200 if self.path in SERVED else 404)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # inherited name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        told = Server(f"http://127.0.0.1:{listening.server_port}")
        threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
        yield told
        listening.shutdown()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A directory in no project, with pages in files."""
    for name, html in {"story": STORY, "retold": RETOLD, "other": OTHER, "zh": CHINESE}.items():
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
    (tmp_path / "thin.html").write_text("<title>Shut</title><p>Closed today.")
    (tmp_path / "empty.html").touch()
    (tmp_path / "binary.html").write_bytes(bytes(range(256)) * 8)
    return tmp_path


def read_of(html: str, url: str) -> str:
    """What is printed of one page."""
    page = Fingerprinter().fingerprint(html)
    share = "" if page.main_share is None else f", {page.main_share:.0%} of the page"
    digits = {
        "content": None if page.content is None else f"{page.content:016x}",
        "structure": None if page.structure is None else f"{page.structure:016x}",
        "sketch": None if page.sketch is None else f"{page.sketch:032x}",
    }
    lines = [f"  {name:9}  {each or 'none'}\n" for name, each in digits.items()]
    head = f"{url}  {page.tokens:,} tokens{share}\n  title      {page.title}\n"
    return f"{head}{''.join(lines)}\n{page.text}\n"


# One page


def test_of_one_page_it_is_told_what_a_crawl_would_store(simhash: Simhash, pages: Path) -> None:
    for name, html in {"story": STORY, "zh": CHINESE}.items():
        result = simhash(pages, "compare", f"{name}.html")
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == read_of(html, f"file://{pages}/{name}.html")


def test_a_thin_page_has_a_text_and_no_fingerprints(simhash: Simhash, pages: Path) -> None:
    assert simhash(pages, "compare", "thin.html").stdout == (
        f"file://{pages}/thin.html  2 tokens, 100% of the page\n"
        "  title      Shut\n"
        "  content    none\n"
        "  structure  none\n"
        "  sketch     none\n"
        "\n"
        "Closed today.\n"
    )


def test_one_page_is_read_by_the_settings(simhash: Simhash, pages: Path) -> None:
    short = ("-s", "SIMHASH_MIN_TOKENS=2", "-s", "SIMHASH_NGRAMS=1")
    result = simhash(pages, "compare", "thin.html", *short)
    options = Options(min_tokens=2, ngrams=(1,))
    content = Fingerprinter(options).fingerprint("<p>Closed today.").content
    assert f"  content    {content:016x}\n" in result.stdout


def test_a_dash_is_stdin(simhash: Simhash, pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(CHINESE.encode("gb18030")))
    monkeypatch.setattr("sys.stdin", stdin)
    assert simhash(pages, "compare", "-").stdout == read_of(CHINESE, "-")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.html", "no such file, and not a URL (http:// or https://)"),
        (".", "Is a directory"),
        ("empty.html", "the page holds no element and no text"),
        ("binary.html", "the page is binary data, not HTML"),
        ("ftp://a.example/b", "only http:// and https:// URLs are fetched"),
    ],
)
def test_a_page_that_cannot_be_read_gets_a_line(
    simhash: Simhash, pages: Path, name: str, said: str
) -> None:
    result = simhash(pages, "compare", name)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"scrapy simhash compare: {name}: {said}\n"


def test_a_title_cannot_steer_the_terminal(simhash: Simhash, pages: Path) -> None:
    html = "<title>\u202e&#155;31mred</title><p>one\u009b2J two\u2066"
    (pages / "evil.html").write_text(html, encoding="utf-8")
    result = simhash(pages, "compare", "evil.html")
    assert result.stdout.replace("\n", "").isprintable()
    assert r"one\u009b2J two\u2066" in result.stdout
    compared = simhash(pages, "compare", "evil.html", "story.html")
    assert compared.stdout.replace("\n", "").isprintable()


def test_urls_are_fetched_as_a_crawl_of_the_project_would(pages: Path, server: Server) -> None:
    settings = ("-s", "USER_AGENT=harbour", "-s", "ROBOTSTXT_OBEY=True")

    def compared(*names: str) -> subprocess.CompletedProcess[str]:
        return scrapy_forked(pages, "simhash", "compare", *names, *settings)

    urls = [server.url + path for path in ("/chinese", "/moved", "/hidden/story", "/nowhere")]
    assert compared(urls[0]).stdout == read_of(CHINESE, urls[0])
    moved = compared(urls[1], "story.html")
    assert re.search(rf"A  {server.url}/story +200 tokens", moved.stdout)
    assert re.search(rf"B  file://{pages}/story.html +200 tokens", moved.stdout)
    hidden, missing, refused = map(compared, (*urls[2:], "http://127.0.0.1:1/"))
    assert hidden.stderr.endswith("/hidden/story: Forbidden by robots.txt\n")
    assert missing.stderr.endswith("/nowhere: the server answers 404\n")
    assert "http://127.0.0.1:1/: Connection was refused" in refused.stderr
    assert [each.returncode for each in (moved, hidden, missing, refused)] == [0, 2, 2, 2]
    assert set(server.user_agents) == {"harbour"}


PROJECT = """
BOT_NAME = "harbour"
ADDONS = {"simhash_pipeline.Addon": 500}
ITEM_PIPELINES = {"settings.Loud": 400}
SPIDER_MIDDLEWARES = {"settings.Loud": 400}
EXTENSIONS = {"settings.Loud": 500}
SCHEDULER = "settings.Loud"
DUPEFILTER_CLASS = "settings.Loud"
JOBDIR = "job"
FEEDS = {"output.jsonl": {"format": "jsonlines", "overwrite": True}}

class Loud:
    def __init__(self, *args, **kwargs):
        raise SystemExit("this must not run")
"""


def test_fetching_runs_and_writes_nothing_of_the_project(tmp_path: Path, server: Server) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").write_text(PROJECT)
    (tmp_path / "output.jsonl").write_text("a crawl's items")
    result = scrapy_forked(tmp_path, "simhash", "compare", f"{server.url}/story")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == read_of(STORY, f"{server.url}/story")
    assert (tmp_path / "output.jsonl").read_text() == "a crawl's items"
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__", ".scrapy"}
    assert left == {"scrapy.cfg", "settings.py", "output.jsonl"}
    assert not any(path.is_file() for path in tmp_path.glob(".scrapy/**/*"))


# Two pages


def test_compare_tells_twins_by_exit_code_0_and_others_by_1(simhash: Simhash, pages: Path) -> None:
    twins = simhash(
        pages, "compare", "story.html", "retold.html", "-s", "SIMHASH_CONTENT_DISTANCE=8"
    )
    assert (twins.returncode, twins.stderr) == (0, "")
    assert (
        "Twins: if A is stored, B is dropped: main text near that of a kept page." in twins.stdout
    )
    others = simhash(pages, "compare", "story.html", (pages / "other.html").as_uri())
    assert others.returncode == 1
    assert re.search(
        r"No twins: the contents differ in \d\d bits, and twins are within 3. Other twins declare "
        "one address and share half of the main text, have the same item text or row, or, in two "
        r"templates or sites, the same "
        r"longest paragraph or minhash and sketches within 18 bits\.\n",
        others.stdout,
    )


def test_compare_tells_distances_and_changed_words(simhash: Simhash, pages: Path) -> None:
    result = simhash(pages, "compare", "story.html", "retold.html")
    one, two = (Fingerprinter().fingerprint(html) for html in (STORY, RETOLD))
    assert one.content is not None
    assert two.content is not None
    content = rf"content +{one.content:016x} +{two.content:016x} +"
    apart = (one.content ^ two.content).bit_count()
    assert re.search(rf"^{content}{apart} of 64 bits +3$", result.stdout, re.MULTILINE)
    assert re.search(r"^structure +none +none +- +not used$", result.stdout, re.MULTILINE)
    assert "Changes of words in the main text: 1 (" in result.stdout
    context = ("word94 word95 word96 word97 word98 word99", "word101 word102 word103 word104")
    assert (
        f"\n  {context[0]} [-word100-] {{+tale+}} {context[1]} word105 word106\n" in result.stdout
    )


def test_compare_shortens_long_changes(simhash: Simhash, pages: Path) -> None:
    words = simhash(pages, "compare", "story.html", "other.html").stdout
    assert "characters more)-] {+term0 term1" in words


def test_compare_says_how_many_changes_it_left_out(simhash: Simhash, pages: Path) -> None:
    often = STORY.replace("word20 ", "x ").replace("word90 ", "y ").replace("word170 ", "z ")
    (pages / "often.html").write_text(often)
    words = simhash(pages, "compare", "story.html", "often.html", "--limit", "1").stdout
    assert "Changes of words in the main text: 3" in words
    assert "  … and 2 more: --limit 3\n" in words


def test_compare_goes_by_the_options_that_judge(simhash: Simhash, pages: Path) -> None:
    same = ("compare", "thin.html", "thin.html")
    assert simhash(pages, *same).returncode == 0
    (pages / "also.html").write_text("<title>Shut</title><p>Closed again.")
    thin = simhash(pages, "compare", "thin.html", "also.html")
    assert thin.returncode == 1
    assert "No twins: B is thin, and its title and text are not those of A." in thin.stdout
    one_is_thin = simhash(pages, "compare", "thin.html", "story.html").stdout
    assert "No twins: one of them has too little text. Other twins declare" in one_is_thin
    alone = ("-s", "SIMHASH_SECOND_LOOK=False")
    far = simhash(pages, "compare", "story.html", "other.html", *alone).stdout
    assert re.search(r"^No twins: .* bits, and twins are within 3\.$", far, re.MULTILINE)
    assert re.search(r"^sketch .* bits +not used$", far, re.MULTILINE)
    one_url = simhash(pages, "compare", "story.html", "story.html").stdout
    assert re.search(r"^content .* 0 of 64 bits +not used$", one_url, re.MULTILINE)


def test_compare_names_what_makes_twins_beside_the_content(pages: Path, server: Server) -> None:
    """A second address of the story: without a word on it, its limit seems to be the content's."""
    urls = [f"{server.url}/{name}" for name in ("print", "story")]
    strict = ("-s", "SIMHASH_CONTENT_DISTANCE=0")
    limit = r"^content .* \d+ of 64 bits +not used$"
    for keep, said in (
        ("first", "Twins: if A is stored, B is dropped: address of a kept page"),
        ("canonical", "Twins: B is at the address that A declares, and takes its place."),
    ):
        options = (*strict, "-s", f"SIMHASH_KEEP={keep}")
        result = scrapy_forked(pages, "simhash", "compare", *urls, *options)
        assert result.returncode == 0
        assert said in result.stdout
        assert re.search(limit, result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: page"),
        (["story.html", "nowhere.html"], "nowhere.html: no such file"),
        (["story.html", "binary.html"], "binary.html: the page is binary data"),
        (["story.html", "a\0b"], "a\\u0000b: "),
        (["story.html", "retold.html", "zh.html"], "name one page or two"),
        (["story.html", "zh.html", "-s", "SIMHASH_MATCH=all"], "SIMHASH_MATCH is 'all'"),
    ],
)
def test_bad_input_to_compare_gets_one_line(
    simhash: Simhash, pages: Path, arguments: list[str], said: str
) -> None:
    result = simhash(pages, "compare", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
