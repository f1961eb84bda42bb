"""A site on loopback: six stories, and traps that never end: a calendar, and session ids."""

from __future__ import annotations

import contextlib
import itertools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STORIES = 6


@contextlib.contextmanager
def trap_site(trap: str) -> Iterator[str]:
    """The site's address, while it is served; `trap` is "calendar" or "session"."""
    sessions = itertools.count(1)

    def page_at(address: str) -> bytes:
        parts = urlsplit(address)
        session = f"?sid={next(sessions)}" if trap == "session" else ""
        return page(parts.path, parse_qs(parts.query), session)

    with served(page_at) as site:
        yield site


@contextlib.contextmanager
def served(page_at: Callable[[str], bytes]) -> Iterator[str]:
    """The address of a site on loopback; `page_at` takes path and query, b"" is a 404."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_GET(self) -> None:
            body = page_at(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parent's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def page(path: str, query: dict[str, list[str]], session: str) -> bytes:
    """A page by its path; b"" for one that isn't there."""
    if path == "/":
        trap = [] if session else ["/calendar?month=1"]
        return html("Front page", prose("front"), [f"/story/1{session}", *trap])
    if path.startswith("/story/"):
        number = int(path.rsplit("/", 1)[1])
        onward = [f"/story/{number + 1}{session}"] if number < STORIES else []
        return html(f"Story {number}", prose(f"story{number}"), [*onward, f"/{session}"])
    if path == "/calendar":
        month = int(query["month"][0])
        return html(f"Month {month}", "Nothing is planned.", [f"/calendar?month={month + 1}"])
    return b""


def prose(topic: str) -> str:
    return " ".join(f"The {topic} word{i} came home, {topic} said{i}." for i in range(40))


def html(title: str, text: str, links: list[str]) -> bytes:
    menu = "".join(f'<li><a href="{link}">more</a></li>' for link in links)
    return (
        f"<html><head><title>{title}</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>{title}</h1><p>{text}</p></main></body></html>"
    ).encode()
