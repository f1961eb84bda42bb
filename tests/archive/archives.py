"""Pages of known twins, and the archives that hold them."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

STORY = " ".join(f"word{i}" for i in range(200))
OTHER = " ".join(f"term{i}" for i in range(200))


def html(body: str, title: str = "A page", head: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body><p>{body}</p></body></html>"


def page(name: str, body: str = STORY, **more: Any) -> dict[str, Any]:
    return {"url": f"http://a.example/{name}", "html": html(body), **more}


# a, its twin, another story, its twin under another title.
PAGES = [page("a"), page("a-again"), page("b", OTHER), page("b-again", OTHER)]
KEPT = ["http://a.example/a", "http://a.example/b"]


def products() -> list[dict[str, Any]]:
    """Three variants of each of four products: one text, and a price of its own."""
    return [
        page(
            f"{name}-{size}",
            f"{' '.join(f'{name}{i}' for i in range(80))} Size {size}, {price} EUR",
            sku=f"{name.upper()}-{size}",
            price=price,
        )
        for number, name in enumerate(("boot", "sandal", "clog", "loafer"))
        for size, price in ((38, 51.5 + number), (39, 62.5 + number), (40, 73.5 + number))
    ]


def write_json_lines(path: Path, items: Iterable[Any]) -> Path:
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wb") as file:
        file.write(text.encode())
    return path


def response(
    url: str,
    body: bytes | str,
    *,
    content_type: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    headers: Sequence[tuple[str, str]] = (),
    date: str = "2026-01-02T03:04:05Z",
    rec_type: str = "response",
    is_compressed: bool = True,
) -> bytes:
    """One record of a WARC file, as warcio writes it."""
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=is_compressed)
    http = StatusAndHeaders(status, [("Content-Type", content_type), *headers], "HTTP/1.1")
    payload = io.BytesIO(body.encode() if isinstance(body, str) else body)
    record = writer.create_warc_record(
        url, rec_type, payload=payload, http_headers=http, warc_headers_dict={"WARC-Date": date}
    )
    writer.write_record(record)
    return file.getvalue()


def warc_of(pages: Iterable[dict[str, Any]], *, is_compressed: bool = True) -> bytes:
    records = (response(one["url"], one["html"], is_compressed=is_compressed) for one in pages)
    return b"".join(records)
