"""URLs and namespaces are data to every store, with any characters in them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

import simhash_pipeline.stores
from simhash_pipeline import Judge, Options, PageError, PageFingerprint
from simhash_pipeline.stores.contract import PageText, Store
from simhash_pipeline.stores.opening import open_store
from simhash_pipeline.urls import page_key
from tests.stores.buckets import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

SQL = "'; DROP TABLE page; --"
MARKS = "\u0f73" * 50_000
HOSTILE = {
    "quotes": f'http://a.example/{SQL}"`',
    "NUL": "http://a.example/a\0b",
    "NUL in the host": "http://a\0b.example/",
    "line breaks": "http://a.example/a\r\nDEL simhash\r\n",
    "line breaks in the host": "http://a\nb.example/",
    "escapes": "http://\x1b2J\x9b.example/\x1b]0;x\x07",
    "right to left": "http://a\u202e.example/\u202e\u2066",
    "percent": "http://a.example/%00%27%ZZ%",
    "like": "http://a.example/%_*?[a-z]",
    "astral": "http://\U0001f600.example/\U0001f600\uffff",
    "no URL": SQL,
    "nothing but a fragment": "#",
    "a hundred thousand characters": "http://a.example/".ljust(100_000, "x"),
}
NO_PAGES = {
    "ten million characters": "http://a.example/".ljust(10_000_000, "x"),
    "a host that NFKC sorts": f"http://a{MARKS}.example/",
    "a user that NFKC sorts": f"http://{MARKS}@a.example/",
    "a hundred thousand characters to be encoded": "http://a.example/".ljust(20_000, "港"),
    "surrogate": "http://a.example/\ud800",
    "bracket": "http://[::1/",
}


@given(st.text("aZ09.-x:", max_size=8), st.text("aZ09._~-/?=&;%+:#@ é", max_size=12))
def test_the_key_of_a_page_is_its_url_as_w3lib_canonicalises_it(host: str, rest: str) -> None:
    url = f"https://{host}/{rest}"
    try:
        canonical = canonicalize_url(url)
    except ValueError:
        return
    assume(not re.match("#!?/.", url[url.find("#") :]))  # a route, which stays
    assert page_key(url) == canonical


@pytest.fixture(params=["memory", "sqlite", "redis", "redis cluster"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/pages.sqlite"
    if request.param.startswith("redis"):
        url = request.getfixturevalue("redis_servers")(request.param).url
    with open_store(url) as opened:
        yield opened


def page(number: int) -> PageFingerprint:
    """Pages of different numbers are far apart."""
    value = sum(1 << 8 * i + number % 8 for i in range(8)) ^ number << 32
    return PageFingerprint(value, value, value, f"text {number}", "", tokens=100)


def test_hostile_urls_are_stored_found_and_forgotten_like_any_other(store: Store) -> None:
    judge = Judge(store, Options(content_distance=0))
    fine = judge.judge("http://fine.example/", page(0))
    kept = {name: judge.judge(url, page(i)) for i, (name, url) in enumerate(HOSTILE.items(), 1)}
    assert {name: verdict.reason for name, verdict in kept.items()} == dict.fromkeys(HOSTILE, "new")
    stored = [each.url for each in store.pages()]
    assert stored == [fine.key, *(verdict.key for verdict in kept.values())]
    for i, (name, url) in enumerate(HOSTILE.items(), 1):
        again = judge.judge(url, page(i))
        assert (again.reason, again.url) == ("unchanged", kept[name].url)
        assert judge.judge("http://twin.example/", page(i)).twin_url == kept[name].url
        judge.forget(kept[name])
    assert [each.url for each in store.pages()] == [fine.key]
    assert faults(store) == []


@pytest.mark.parametrize("name", NO_PAGES)
def test_a_url_that_can_be_none_costs_its_page_alone(store: Store, name: str) -> None:
    judge = Judge(store, Options())
    with pytest.raises(PageError) as caught:
        judge.judge(NO_PAGES[name], page(0))
    assert caught.value.kind == "bad_url"
    assert judge.judge("http://fine.example/", page(1)).reason == "new"
    assert len(store) == 1


@pytest.mark.parametrize("namespace", [SQL, "*", "%", "a\0b", "\n", "{x}", ":", "\u202e"])
def test_a_hostile_namespace_is_cleared_alone(store: Store, namespace: str) -> None:
    for name in (namespace, "other"):
        Judge(store, Options(namespace=name)).judge("http://a.example/", page(0))
    store.clear(namespace)
    assert [each.namespace for each in store.pages()] == ["other"]


def test_a_hostile_text_is_kept_as_it_is(store: Store) -> None:
    url = page_key(HOSTILE["NUL in the host"])
    Judge(store, Options()).judge(url, page(0))
    text = PageText("", url, f"<script>{SQL}\0\x1b", f"{SQL}\0" * 1_000, 1_000)
    store.keep_texts([text])
    assert store.text_of("", url) == text
    assert list(store.texts()) == [text]


STORES = Path(simhash_pipeline.stores.__file__ or "").parent

# All that the text of a statement is made of besides its words: columns, numbers and marks of ours.
PIECES = {
    "APPLICATION_ID",
    "FORMAT",
    "BLOCK_BYTES",
    "LOG_BLOCKS",
    "SAME_KEY",
    "_COLUMNS[table]",
    "table",
    "time",
    "tree",
    "part",
    "column",
    "columns",
    "condition",
}


def statements() -> Iterator[ast.expr]:
    """What each call of the modules of the stores executes, as it stands in the code."""
    for path in sorted(STORES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Attribute(attr="execute" | "executemany"), [statement, *_]):
                    yield statement


def test_no_statement_is_made_of_data() -> None:
    """Values are parameters; add a piece to the list only if it is ours."""
    found = list(statements())
    assert len(found) > 40
    written = (ast.Constant, ast.JoinedStr, ast.Name)  # neither +, % nor .format
    assert [ast.unparse(each) for each in found if not isinstance(each, written)] == []
    pieces = {
        ast.unparse(part.value)
        for each in found
        for part in ast.walk(each)
        if isinstance(part, ast.FormattedValue)
    }
    assert pieces == PIECES
