"""The demo project's crawl, by its command and again in this process, against the right answers."""

import contextlib
import io
import json
import shutil
import socket
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from w3lib.url import safe_url_string

from crawler import settings as demo_settings
from crawler.demo_site import Answer, read_answers
from crawler.spiders.site import SiteSpider
from simhash_pipeline.drop_log import Drop
from tests.crawl.crawling import crawl as crawl_here
from tests.forked import scrapy_forked
from tests.review.logs import read_drops
from tests.stores.servers import free_port

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class DemoCrawl:
    """What came of two crawls of the demo site, one after the other."""

    base: str
    kept: list[str]
    drops: dict[str, Drop]
    first_output: str
    second_output: str


def scrapy(directory: Path, *arguments: str) -> CompletedProcess[str]:
    settings = {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    return scrapy_forked(directory, "crawl", "site", *arguments, **settings)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory, port: int) -> DemoCrawl:
    directory = tmp_path_factory.mktemp("demo")
    shutil.copy(ROOT / "scrapy.cfg", directory)
    first = scrapy(directory, "-a", f"port={port}")
    assert first.returncode == 0, first.stderr
    lines = (directory / "output/site.jsonl").read_text(encoding="utf-8").splitlines()
    drops = list(read_drops(directory / ".scrapy/simhash/site.drops.jsonl"))
    settings = {name: value for name, value in vars(demo_settings).items() if name.isupper()}
    with contextlib.redirect_stdout(io.StringIO()) as second_output:
        again = crawl_here(
            directory, spider=SiteSpider, arguments={"port": port}, ITEM_PIPELINES={}, **settings
        )
    assert again.stats["finish_reason"] == "finished"
    return DemoCrawl(
        base=f"http://127.0.0.1:{port}",
        kept=[json.loads(line)["url"] for line in lines],
        drops={drop.url: drop for drop in drops},
        first_output=first.stdout,
        second_output=second_output.getvalue(),
    )


def url(crawl: DemoCrawl, answer: Answer) -> str:
    return safe_url_string(crawl.base + answer.path)  # as its item has it


ANSWERS = [answer for answer in read_answers() if answer.expected != "one-of"]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.case} {answer.path}")
def test_the_verdict_is_the_right_one(crawl: DemoCrawl, answer: Answer) -> None:
    dropped = url(crawl, answer) in crawl.drops
    assert dropped == (answer.expected == "drop"), answer.why
    assert (url(crawl, answer) in crawl.kept) != dropped
    if dropped:
        twin = crawl.drops[url(crawl, answer)].twin_url
        assert twin == safe_url_string(crawl.base + answer.twin)


def test_of_each_group_of_copies_exactly_one_is_kept(crawl: DemoCrawl) -> None:
    groups = defaultdict(list)
    for answer in read_answers():
        if answer.expected == "one-of":
            groups[answer.twin].append(url(crawl, answer))
    assert len(groups) >= 10
    for group, urls in groups.items():
        kept = [u for u in urls if u in crawl.kept]
        assert len(kept) == 1, (group, kept)
        assert {crawl.drops[u].twin_url for u in urls if u not in kept} == set(kept)


def test_every_page_is_seen_once_and_none_that_robots_txt_disallows(crawl: DemoCrawl) -> None:
    seen = sorted([*crawl.kept, *crawl.drops])
    assert seen == sorted({url(crawl, answer) for answer in read_answers()})
    assert not any("/internal/" in u for u in seen)


def test_the_summary_tells_a_newcomer_what_happened_and_where_to_look(crawl: DemoCrawl) -> None:
    lines = crawl.first_output.splitlines()
    assert f"Pages seen {len(crawl.kept) + len(crawl.drops):10}" in lines
    assert f"  dropped  {len(crawl.drops):10}   address 3, content" in crawl.first_output
    assert sum(line.startswith("    ≈ http") for line in lines) == 3 + 1
    near = lines[lines.index("Kept though near a stored page, for example") + 1]
    assert near.rpartition("/")[2] in ("ship-biscuit", "ship-biscuit-forty")
    assert any(line.endswith(".scrapy/simhash/site.drops.jsonl") for line in lines)
    assert any(line.endswith(".scrapy/simhash/site.sqlite") for line in lines)
    assert 'ADDONS = {"simhash_pipeline.Addon": 500}' in crawl.first_output


def test_a_second_crawl_finds_the_kept_pages_unchanged_and_drops_the_same(
    crawl: DemoCrawl,
) -> None:
    assert f"  dropped  {len(crawl.drops):10}   address 3, content" in crawl.second_output
    unreadable = 2  # a picture and an empty body: kept each time, never judged
    assert f"unchanged {len(crawl.kept) - unreadable}" in crawl.second_output


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"url": "example.org"}, "url is 'example.org'; it must be an address like https://"),
        ({"url": "ftp://example.org"}, "url is 'ftp://example.org'; it must be an address like"),
        ({"max_pages": "many"}, "max_pages is 'many'; it must be a whole number"),
        ({"port": "x"}, "port is 'x'; it must be a whole number"),
    ],
)
def test_a_bad_argument_gets_one_clear_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], argument: dict[str, str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        SiteSpider(**argument)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(message)


def test_a_site_that_is_down_is_no_crawl_that_kept_nothing(tmp_path: Path) -> None:
    with socket.socket() as reserved:  # and nobody listens
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}/"
        settings = ("-s", "LOG_ENABLED=False", "-s", "RETRY_ENABLED=False")
        result = scrapy(tmp_path, "-a", f"url={url}", *settings)
    assert "\nNo page came: look for errors above, or give another URL.\n" in result.stdout


def test_a_busy_port_gets_one_clear_line_and_exit_code_2(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        result = scrapy(tmp_path, "-a", f"port={port}", "-s", "LOG_ENABLED=False")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"the demo site can't listen on port {port}")
