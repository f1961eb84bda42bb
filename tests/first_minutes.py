"""Records the first ten minutes of a new user: real commands, and what they print.

python -m tests.first_minutes /usr/share/doc/llvm-14-doc/html /usr/share/doc/llvm-15-doc/html

The folders are served on loopback as one site, each under its own path. The record is written to
docs/first-minutes.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent

from tests.documents import DOCS, ROOT

PORT = 8765
MOST_LINES = 40  # of one command's output
SPIDER = f"""\
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class ManualSpider(CrawlSpider):
    name = "manual"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["http://127.0.0.1:{PORT}/"]
    rules = [Rule(LinkExtractor(allow=r"/$|\\.html$"), callback="parse_page", follow=True)]

    def parse_page(self, response):
        yield {{"url": response.url, "title": response.css("title::text").get()}}
"""
HEAD = """\
# The first ten minutes, recorded

Two releases of a manual on one site: the same pages arrive under other URLs. Each command was run
by `python -m tests.first_minutes`, and its output is what it printed{cut}. The
time is counted from the first command.
"""
CUT = " (`…` stands for lines left out, and lines end after 160 characters)"
CRAWL = "scrapy crawl manual -s DOWNLOAD_DELAY=0 -s LOG_LEVEL=INFO"
STEPS = [
    ("Install into a new environment, from a clone beside it", [
        "python3 -m venv .venv && . .venv/bin/activate",
        "pip install ../simhash_pipeline",
    ]),
    ("Make a Scrapy project with one spider", [
        "scrapy startproject docs_crawl .",
        "cat docs_crawl/spiders/manual.py",
    ]),
    ("Add one line of settings", [
        """echo 'ADDONS = {"simhash_pipeline.Addon": 500}' >> docs_crawl/settings.py""",
    ]),
    ("Crawl without dropping anything", [
        f"{CRAWL} -s SIMHASH_DRY_RUN=True -s SIMHASH_KEEP_TEXT=True --logfile=trial.log",
        "grep Near-duplicates: trial.log",
    ]),
    ("See what would be dropped", [
        "scrapy simhash dropped", "scrapy simhash report -o report.html",
    ]),
    ("See why one page would be dropped", ["scrapy simhash explain {example} --limit 3"]),
    ("Switch it on", [
        f"{CRAWL} -O pages.jsonl --logfile=crawl.log",
        "grep Near-duplicates: crawl.log",
        "wc -l pages.jsonl",
        "scrapy simhash store info",
    ]),
]  # fmt: skip


def main(folders: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        site, project = Path(scratch, "site"), Path(scratch, "project")
        site.mkdir()
        project.mkdir()
        Path(scratch, "simhash_pipeline").symlink_to(ROOT)
        for folder in folders:
            Path(site, Path(folder).parent.name).symlink_to(folder)
        threading.Thread(target=_server(site).serve_forever, daemon=True).start()
        record = "".join(_recorded(project))
    head = HEAD.format(cut=CUT if "\n…" in record else "")
    (DOCS / "first-minutes.md").write_text(head + record, encoding="utf-8")


def _server(site: Path) -> ThreadingHTTPServer:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", PORT), partial(Quiet, directory=str(site)))


def _recorded(project: Path) -> list[str]:
    began, parts, example = time.monotonic(), [], ""
    for title, commands in STEPS:
        passed = time.strftime("%M:%S", time.gmtime(time.monotonic() - began))
        parts.append(f"\n## {passed} · {title}\n\n```console\n")
        for command in commands:
            shown = command.format(example=example) if "{example}" in command else command
            output = _output(shown, project)
            parts.append(f"$ {shown}\n{_cut(output)}")
            found = re.search(r"(\S+)\n +≈ ", output)
            example = found.group(1) if found else example
        parts.append("```\n")
    return parts


def _output(command: str, project: Path) -> str:
    print(command, file=sys.stderr)
    spider = project / "docs_crawl" / "spiders" / "manual.py"
    if spider.parent.exists():
        spider.write_text(SPIDER, encoding="utf-8")
    activated = f". .venv/bin/activate 2>/dev/null; {command}"
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    result = subprocess.run(
        ["bash", "-c", activated],
        cwd=project,
        env=environment | {"COLUMNS": "96", "PYTHONIOENCODING": "utf-8", "PIP_QUIET": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return result.stdout.replace(str(project), "~/docs_crawl")


def _cut(output: str) -> str:
    lines = [line[:160].rstrip() for line in output.splitlines()]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], "…", *lines[-MOST_LINES // 2 :]]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(dedent(str(__doc__)))
    main(sys.argv[1:])
