"""What the server sends for one address."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A response body and its Content-Type header."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"


def html_page(html: str, charset: str = "utf-8", header_charset: str | None = "utf-8") -> Page:
    """HTML encoded in `charset` and declared as `header_charset`; None declares nothing.

    Characters that the charset lacks become numeric references.
    """
    content_type = f"text/html; charset={header_charset}" if header_charset else "text/html"
    return Page(html.encode(charset, "xmlcharrefreplace"), content_type)
