"""Two spiders on two hosts that share a queue of requests, by scrapy-redis, and a store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawl.two_hosts import two_hosts
from tests.stores.servers import RunningServer, server_binary, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

STORIES = 30
PLACES = [f"/{paper}/{number}" for number in range(STORIES) for paper in ("one", "other")]
SPIDER = """
import json, sys
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy_redis.spiders import RedisSpider

class StorySpider(RedisSpider):
    name = "stories"

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")

told = {"scraped": [], "dropped": {}}

def opened():
    print("ready", flush=True)

def scraped(item):
    told["scraped"].append(item["url"])

def dropped(item, exception):
    told["dropped"][item["url"]] = exception.verdict.twin_url

redis = sys.argv[1]
process = CrawlerProcess({
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_PERSIST": True,
    "REDIS_URL": redis,
    "ADDONS": {"simhash_pipeline.Addon": 500},
    "SIMHASH_STORE": redis,
    "DOWNLOAD_DELAY": 0.15,  # one that is idle looks into the queue every five seconds
    "CONCURRENT_REQUESTS": 2,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
})
crawler = process.create_crawler(StorySpider)
for receiver, signal in (
    (opened, signals.spider_opened),
    (scraped, signals.item_scraped),
    (dropped, signals.item_dropped),
):
    crawler.signals.connect(receiver, signal)
process.crawl(crawler)
process.start()
print(json.dumps(told))
"""


class StorySite:
    """Each story in two papers, and a front page that leads to all; tells who asked for what."""

    def __init__(self, address: str) -> None:
        self.asked: list[tuple[str, str]] = []  # host, path
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.client_address[0], self.path))
                body = page(self.path).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # its name
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def page(path: str) -> str:
    if path == "/":
        links = "".join(f"<li><a href='{place}'>{place}</a>" for place in PLACES)
        return f"<title>Front page</title><ul>{links}</ul>"
    story = story_of(path)
    text = " ".join(f"word{story}x{i}" for i in range(150))
    if path.startswith("/one/"):
        return f"<title>Story {story}</title><body><main><p>{text}</p></main>"
    return f"<title>Story {story}</title><body><div class='wire'><section><p>{text}</section></div>"


def story_of(path: str) -> int:
    """The other paper has them in another order, so that twins don't go to one host together."""
    _, paper, number = path.split("/")
    return int(number) if paper == "one" else (7 * int(number) + 3) % STORIES


@pytest.mark.ci
def test_two_hosts_crawl_a_site_together_and_keep_each_story_once(tmp_path: Path) -> None:
    with two_hosts() as hosts, StorySite(hosts.address) as site:
        (tmp_path / "server").mkdir()
        listen = ("--bind", *{"127.0.0.1", hosts.address}, "--protected-mode", "no")
        with RunningServer(server_binary("redis 6.2"), tmp_path / "server", *listen) as server:
            redis = f"redis://{hosts.address}:{server.port}/0"
            first, second = crawled(hosts.prefixes, redis, site, server, tmp_path)
    kept = [*first["scraped"], *second["scraped"]]
    dropped = {**first["dropped"], **second["dropped"]}
    assert sorted([*kept, *dropped]) == sorted([f"{site.url}/", *(site.url + p for p in PLACES)])
    kept_stories = [story_of(url[len(site.url) :]) for url in kept if url != f"{site.url}/"]
    assert sorted(kept_stories) == list(range(STORIES))
    assert set(dropped.values()) <= set(kept)
    assert any(
        set(here["dropped"].values()) & set(there["scraped"])  # twins that the other host kept
        for here, there in ((first, second), (second, first))
    )
    if hosts.are_apart:
        assert len({host for host, _ in site.asked}) == 2


def crawled(
    prefixes: tuple[tuple[str, ...], ...],
    redis: str,
    site: StorySite,
    server: RunningServer,
    folder: Path,
) -> Iterator[dict[str, dict[str, str]]]:
    """What the spiders tell when all pages have been asked for."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with ExitStack() as running:
        spiders = []
        for number, prefix in enumerate(prefixes):
            (folder / str(number)).mkdir()
            spiders.append(
                running.enter_context(
                    subprocess.Popen(
                        [*prefix, sys.executable, "-c", SPIDER, redis],
                        cwd=folder / str(number),
                        env=environment,
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                )
            )
            running.callback(spiders[-1].kill)
        for spider in spiders:
            assert spider.stdout is not None
            assert spider.stdout.readline() == "ready\n"
        server.tell("LPUSH", "stories:start_urls", json.dumps({"url": f"{site.url}/"}))
        wait_until(lambda: len(site.asked) == 1 + len(PLACES))
        for spider in spiders:
            spider.send_signal(signal.SIGINT)
        for spider in spiders:
            assert spider.stdout is not None
            yield json.loads(spider.stdout.read())
            assert spider.wait() == 0
