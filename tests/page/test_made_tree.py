"""The tree of a crawl's selector gives the fingerprints that a parse of our own gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from scrapy.http import HtmlResponse

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, PageFingerprint, native
from simhash_pipeline.errors import PageError
from simhash_pipeline.options import Options
from simhash_pipeline.page.parse import MadeTree
from tests.same import by_python

pytestmark = pytest.mark.skipif(native.walk is None, reason="only the compiled walk reads it")
URL = "http://a.example/page"
WORDS = " ".join(f"word{i}" for i in range(80))
# By white space; ~ stands for a space in one of them.
MARKUP = r"""
<!--c--> <!----> <!--> <!--a--!> <!--open --> <?php~echo~1~?> <?xml~version='1.0'?> <![CDATA[x]]>
<!doctype~html> </> < > </body> </html> <body> <html> <head> </head> <title> </title> ~ two~words
<h1>a<!--x-->b<?p~q?>c</h1> <a~href='#x'>x<!--y-->~z~</a> <script>if(a<!--b){}</script> <script>
</script> <style> <textarea> <svg><p> <p> </p> <div~hidden> <table> <noscript> <plaintext> <math>
<template> <main> <b> <br/> <x:y~z> <div~class=' " ' &amp; &#0; &#xD800; &nbsp <meta~charset=gbk>
<base~href='http://o.example/'> <link~rel=canonical~href='/c'> <meta~property=og:title~content='O'>
"""
OTHERS = ("\u00a0", "\u3000", "\x0b", "\x1c", "\0", "\ufeff", "\ufffd", "\n", "中文")
FRAGMENTS = [*OTHERS, *(fragment.replace("~", " ") for fragment in MARKUP.split())]


def both(
    html: bytes, charset: str | None = None
) -> tuple[PageFingerprint | str, PageFingerprint | str, bool]:
    """The answers by the selector's tree and by our own, and whether that tree was asked for."""
    declared = f"text/html; charset={charset}" if charset else "text/html"
    response = HtmlResponse(URL, body=html, headers={"Content-Type": declared})
    made: list[tuple[etree._Element, bytes]] = []

    def parse() -> etree._Element:
        root: etree._Element = response.selector.root
        made.append((root, etree.tostring(root.getroottree())))
        return root

    one = _answer(html, charset, MadeTree(response.text, parse))
    for root, before in made:
        assert etree.tostring(root.getroottree()) == before
    return one, _answer(html, charset, None), bool(made)


def _answer(html: bytes, charset: str | None, made: MadeTree | None) -> PageFingerprint | str:
    try:
        return Fingerprinter(Options()).fingerprint(html, URL, charset, made)
    except PageError as error:
        return str(error)


def test_every_demo_page_is_the_same_by_either_tree() -> None:
    answers = [both(page.body, "utf-8") for page in all_pages().values()]
    assert all(one == other for one, other, _ in answers)
    assert sum(shared for _, _, shared in answers) >= 0.9 * len(answers) > 100


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), st.sampled_from([None, "utf-8", "gbk"]))
@settings(max_examples=500, deadline=None)
def test_so_is_broken_markup(fragments: list[str], charset: str | None) -> None:
    html = f"<title>A page</title><p>{WORDS}" + "".join(fragments) + "<p>end</p>"
    one, other, _ = both(html.encode("utf-8", "surrogatepass"), charset)
    assert one == other


@pytest.mark.parametrize(
    "html",
    [
        f"<title>a<!-- b -->c</title><h1>x<!-- y -->z</h1><p>{WORDS}",
        f"<!-- first --><p>one<!-- c -->word<?php echo 1 ?>s {WORDS}<!-- last -->",
        f"<h1>o<!-- c -->ne<?p x?>word</h1><p>{WORDS}",
        f"\n\n<p>{WORDS}</p>\r\n\r\n",
        f"<p>{WORDS}\0</p>",
    ],
)
def test_comments_and_white_space_make_no_difference(html: str) -> None:
    one, other, shared = both(f"{html}</p>".encode())
    assert one == other
    assert shared


@pytest.mark.parametrize(
    ("html", "charset"),
    [
        (f"<p>{WORDS}</body><p>more</p>".encode(), None),
        (f"{WORDS}<p>more</p>".encode(), None),
        (f"<p>{WORDS}</p>\u3000".encode(), None),
        (f"\n\ufeff<p>{WORDS}</p>".encode(), None),
        (f"<p>caf\u00e9 {WORDS}</p>".encode(), "windows-1252"),
    ],
)
def test_a_page_that_parsel_reads_otherwise_is_parsed_anew(html: bytes, charset: str) -> None:
    one, other, shared = both(html, charset)
    assert one == other
    assert not shared


@pytest.mark.parametrize(
    "html",
    [
        f"<title>x</title><main><p>{WORDS}</main>",
        f"{'<div>' * 3000}<p>{WORDS}</p>",
        "<!-- nothing -->",
    ],
)
def test_so_is_one_whose_tree_is_to_be_mended(html: str) -> None:
    one, other, _ = both(html.encode())
    assert one == other


def test_the_python_alone_never_reads_it() -> None:
    html = f"<p>one<!-- c -->word {WORDS}</p>".encode()
    with by_python():
        one, other, _ = both(html)
    assert one == other
