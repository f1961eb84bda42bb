"""What commands print in the README, they print after a crawl of the demo site."""

from __future__ import annotations

import random
import re
import shlex
import shutil
import socket
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy.cmdline import execute

from crawler import settings as demo_settings
from crawler.demo_site import DemoSite
from crawler.spiders.site import SiteSpider
from simhash_pipeline.drop_log import Drop, read_log
from tests.crawl.crawling import crawl
from tests.documents import ROOT, TEXT
from tests.forked import scrapy_forked

if TYPE_CHECKING:
    from collections.abc import Callable

README_PORT = 8642
ENVIRONMENT = {
    "SCRAPY_SETTINGS_MODULE": "crawler.settings",
    "COLUMNS": "96",
    "PYTHONPATH": str(ROOT),
}
FOUND = re.findall(r"^```\n\$ (scrapy simhash .*)\n([^`]*)^```$", TEXT, re.MULTILINE)
EXAMPLES = list(dict.fromkeys(FOUND))
LEFT_OUT = re.compile("^…\n", re.MULTILINE)  # some lines of an example
# Times, one or two of them, and the size of an SQLite file, which has more or less free space.
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d"
VARIES = re.compile(TIME)


def scrapy(directory: Path, *arguments: str) -> str:
    result = scrapy_forked(directory, *arguments, **ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def port() -> int:
    """A free one of four digits, as the README's: columns are as wide as what is in them."""
    while True:
        found = random.SystemRandom().randint(2_000, 9_999)
        with closing(socket.socket()) as tried:
            if tried.connect_ex(("127.0.0.1", found)):
                return found


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, port: int) -> Path:
    directory = tmp_path_factory.mktemp("demo")
    shutil.copy(ROOT / "scrapy.cfg", directory)
    settings = {name: value for name, value in vars(demo_settings).items() if name.isupper()}
    settings |= {
        "ITEM_PIPELINES": {},
        "CONCURRENT_REQUESTS": 1,  # drops come in the same order however busy it is
        "SIMHASH_KEEP_TEXT": True,
    }
    done = crawl(directory, spider=SiteSpider, arguments={"port": port}, **settings)
    assert done.stats["finish_reason"] == "finished"
    (directory / "answers.csv").write_text(answers(directory / ".scrapy/simhash/site.drops.jsonl"))
    return directory


def answers(log: Path) -> str:
    """As the report saves them: each drop is a copy, the near miss is another page."""
    head = "answer,distance,sketch_distance,twin_url,url,reason,structure_distance,similarity"
    drops = (record for record in read_log(log) if isinstance(record, Drop))
    lines = (
        f"{'n' if drop.is_near_miss else 'y'},{drop.content_distance},{drop.sketch_distance},"
        f"{drop.twin_url},{drop.url},{drop.reason},{drop.structure_distance},{drop.similarity}"
        for drop in drops
        if drop.content_distance is not None
    )
    return "\n".join([head, *lines]).replace("None", "")


def test_the_examples_are_found() -> None:
    commands = {shlex.split(command)[2] for command, _ in EXAMPLES}
    assert commands == {"dropped", "explain", "tune", "compare", "rules"}


@pytest.fixture
def here(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """`scrapy <arguments>` inside the test's process, which spares a second of imports."""
    monkeypatch.chdir(crawled)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", *arguments])
        output = capsys.readouterr()
        assert not ended.value.code, output.err
        return output.out

    return run


@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[each for each, _ in EXAMPLES])
def test_an_example_prints_what_the_readme_says(
    crawled: Path, here: Callable[..., str], port: int, command: str, printed: str
) -> None:
    arguments = shlex.split(command.replace(f":{README_PORT}", f":{port}"))[1:]
    if arguments[1] == "compare":
        with DemoSite(port):
            told = scrapy(crawled, *arguments)  # it crawls
    else:
        told = here(*arguments)
    told = VARIES.sub("", told.replace(f":{port}", f":{README_PORT}"))
    first, *further = LEFT_OUT.split(VARIES.sub("", printed))
    assert told.startswith(first)
    assert further or told == first
    for part in further:
        assert part in told
