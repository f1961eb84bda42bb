"""Input that is hardly text: never an error but the page's own, and no two strangers made twins."""

import pytest

from simhash_pipeline import (
    Fingerprinter,
    Judge,
    Options,
    PageError,
    PageFingerprint,
    content_fingerprint,
    hamming_distance,
    open_store,
)

TEN_MB = 10_000_000
# Two strangers of each class.
STRANGERS = {
    "one token": ("ferry", "harbour"),
    "one token a million times": ("ferry " * 1_000_000, "harbour " * 1_000_000),
    "one long token": ("x" * 1_000_000, "y" * 1_000_000),
    "10 MB of one word in one line": ("x" * TEN_MB, "y" * TEN_MB),
    "10 MB of words in one line": ("lighthousekeepers " * 560_000, "breakwater-builder " * 530_000),
    "no letters": ("!!! ... --- " * 500, "?? ;; ,, " * 500),
    "numbers": ("1 2 3 " * 100, "4 5 6 " * 100),
    "emoji": ("😀 😁 😂 " * 500, "🚀🛸 🐙 " * 500),
    "emoji and letters": ("😀 ferry " * 100, "😀 harbour " * 100),
    "Arabic and Hebrew": ("مرحبا بالعالم " * 500, "שלום עולם " * 500),
    "right-to-left marks": ("\u202eferry\u202c " * 100, "\u202eharbour\u202c " * 100),
    "NUL bytes": ("a\0b c " * 1000, "d\0e f " * 1000),
    "lone surrogates": ("ferry \ud800 " * 100, "harbour \udfff " * 100),
    "unassigned code points": ("\U0003fffe \u0378 " * 1000, "\U000e1000 \u0379 " * 1000),
    "private use": ("\ue000 " * 1000, "\uf8ff " * 1000),
    "marks with no letter": ("\u0301 " * 500, "\u0302 " * 500),
    "nothing that is seen": ("\u200d " * 500, "\u2060" * 500),
}
# Nothing to read at all: each is its own page, and nobody's twin.
NOTHING = {
    "white space": " \n\t\u3000\u00a0" * 500,
    "no text in markup": "<html><head></head><body><div></div></body></html>",
    "white space in markup": "<html><body><p> \u3000\u00a0 </p></body></html>",
}


@pytest.fixture(scope="module", params=STRANGERS, ids=lambda name: name.replace(" ", "-"))
def strangers(request: pytest.FixtureRequest) -> tuple[PageFingerprint, PageFingerprint]:
    """Two pages, however thin, with their fingerprints."""
    fingerprinter = Fingerprinter(Options(min_tokens=1))
    one, two = STRANGERS[request.param]
    return fingerprinter.fingerprint(one), fingerprinter.fingerprint(two)


def test_strangers_share_no_content_fingerprint(
    strangers: tuple[PageFingerprint, PageFingerprint],
) -> None:
    one, two = strangers
    assert (one.content is None) == (two.content is None)
    if one.content is not None and two.content is not None:
        assert hamming_distance(one.content, two.content) > 8


def test_strangers_share_no_sketch(strangers: tuple[PageFingerprint, PageFingerprint]) -> None:
    one, two = strangers
    if one.sketch is not None and two.sketch is not None:
        assert hamming_distance(one.sketch, two.sketch) > 18


def test_strangers_are_both_kept(strangers: tuple[PageFingerprint, PageFingerprint]) -> None:
    with open_store("memory:") as store:
        judge = Judge(store, Options(content_distance=8))
        verdicts = [
            judge.judge(f"https://{host}.example/", page)
            for host, page in zip("ab", strangers, strict=True)
        ]
    assert [verdict.dropped for verdict in verdicts] == [False, False]


def test_a_text_without_a_token_has_no_fingerprint() -> None:
    for name in ("no letters", "emoji", "unassigned code points", "private use"):
        for text in STRANGERS[name]:
            assert content_fingerprint(text) is None, name


@pytest.mark.parametrize("html", NOTHING.values(), ids=NOTHING)
def test_a_page_with_nothing_to_read_is_nobodys_twin(html: str) -> None:
    try:
        page = Fingerprinter(Options(min_tokens=1)).fingerprint(html)
        found: tuple[object, ...] = (page.content, page.sketch, page.digest)
    except PageError as error:
        found = (error.kind,)
    assert found in ((None, None, None), ("empty",))


@pytest.mark.parametrize("html", ["", b"", b"\xef\xbb\xbf"], ids=["str", "bytes", "bom"])
def test_an_empty_page_is_an_empty_page(html: str | bytes) -> None:
    with pytest.raises(PageError) as caught:
        Fingerprinter().fingerprint(html)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    "data",
    [b"\0" * 1000, b"\x89PNG\r\n\x1a\n" + bytes(1000), bytes(range(256)) * 100],
    ids=["nul", "png", "every-byte"],
)
def test_binary_data_is_told_as_such(data: bytes) -> None:
    with pytest.raises(PageError) as caught:
        Fingerprinter().fingerprint(data)
    assert caught.value.kind == "binary"


@pytest.mark.parametrize("text", ["", " \n", "\0", "\u200b", "!?", "\ud800", "😀"])
def test_content_fingerprint_of_no_word_is_none(text: str) -> None:
    assert content_fingerprint(text) is None
