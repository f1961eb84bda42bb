"""The demo site on loopback, served from memory by the standard library."""

import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, final
from urllib.parse import quote, unquote

from crawler.demo_site.page import Page
from crawler.demo_site.pages import all_pages, not_found_page

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8642


@final
class DemoSite:
    """The site as a context manager: it listens inside the `with` block and at no other time.

    Port 0 takes any free port. A busy port raises OSError on entry.
    """

    def __init__(self, port: int = DEFAULT_PORT) -> None:
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The front page's address without its last slash: "http://127.0.0.1:8642"."""
        if self._server is None:
            raise RuntimeError("the demo site has an address only inside its with block")
        return f"http://{HOST}:{self._server.server_port}"

    def __enter__(self) -> "DemoSite":
        handler = partial(_Handler, pages=all_pages(), not_found=not_found_page())
        self._server = _Server((HOST, self._port), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that keeps its connection open must not hold up the exit
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news; anything else is told as usual."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "HarbourPost"
    timeout = 30
    disable_nagle_algorithm = True

    def __init__(
        self, *args: object, pages: dict[str, Page], not_found: Page, **kwargs: object
    ) -> None:
        self._pages = pages
        self._not_found = not_found
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed through untouched

    def do_GET(self) -> None:
        self._send(with_body=True)

    def do_HEAD(self) -> None:
        self._send(with_body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # inherited name
        """Say nothing: a crawl has its own log."""

    def _send(self, with_body: bool) -> None:
        page = self._page()
        self.send_response(404 if page is self._not_found else 200)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if with_body:
            self.wfile.write(page.body)

    def _page(self) -> Page:
        """The page at the exact path?query, else at the path: unknown parameters change nothing."""
        path, mark, query = self.path.partition("?")
        path = quote(unquote(path))
        exact = self._pages.get(f"{path}{mark}{query}")
        return exact or self._pages.get(path, self._not_found)
