"""Others that tell near-duplicates, each used as its own documentation or defaults have it.

A page without text has no signature, with all of them: the fingerprint of nothing is no twin's.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tldextract
from parsel import Selector
from scrapy.http import HtmlResponse, Request
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler

from simhash_pipeline import Fingerprinter, Options, PageError, hamming_distance
from simhash_pipeline.page.segment import words as tokens
from tests.quality.measures import Joins
from tests.trees import main_text, parse

DISTANCE = Options().content_distance
_WORDS = re.compile(r"\w+")
_SHINGLE_WORDS = 5
_SEOMOZ_SHINGLE_WORDS = 4  # the default of its own `shingle`
_DOCUMENTED_JACCARD = 0.5  # of datasketch's documentation; its default is 0.9


@dataclass(frozen=True, slots=True)
class Document:
    """One page; `html` is `body` decoded, which only the project is charged for."""

    name: str
    body: bytes
    html: str
    charset: str | None = None  # the HTTP header's
    url: str | None = None


Signatures = Mapping[str, Any]  # by the document's name; None where there is none
PairNames = Sequence[tuple[str, str]]


class Contender(Protocol):
    """`sign` is what is timed; it may fail by OverflowError, which counts as no signature."""

    package: str

    def learn(self, documents: Sequence[Document]) -> None: ...
    def sign(self, document: Document) -> Any: ...
    def joined(self, signatures: Signatures, pairs: PairNames) -> list[bool]: ...


def whole_text(html: str) -> str:
    """The text of the body but for scripts and styles, by Scrapy's own selectors."""
    visible = "//body//text()[not(parent::script or parent::style)]"
    return " ".join(Selector(html, type="html").xpath(visible).getall())


def _words(html: str) -> list[str]:
    return _WORDS.findall(whole_text(html).lower())


def _shingles(words: Sequence[str], size: int) -> set[str]:
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


class Project:
    """This project, as a crawl with the default settings judges."""

    package = "simhash-pipeline"

    def __init__(self) -> None:
        self._fingerprinter = Fingerprinter()

    def learn(self, documents: Sequence[Document]) -> None:
        """Nothing to learn."""

    def sign(self, document: Document) -> Any:
        try:
            return self._fingerprinter.fingerprint(document.body, charset=document.charset)
        except PageError:
            return None

    def joined(self, signatures: Signatures, pairs: PairNames) -> list[bool]:
        joins = Joins(DISTANCE)
        return [joins(signatures[a], signatures[b]) for a, b in pairs]


class _Bits:
    """Twins are within DISTANCE bits."""

    def learn(self, documents: Sequence[Document]) -> None:
        """Nothing to learn."""

    def joined(self, signatures: Signatures, pairs: PairNames) -> list[bool]:
        found = ((signatures[a], signatures[b]) for a, b in pairs)
        return [
            a is not None and b is not None and hamming_distance(a, b) <= DISTANCE for a, b in found
        ]


class PypiSimhash(_Bits):
    """Given the text, which it cuts into four characters itself."""

    package = "simhash"

    def __init__(self) -> None:
        self._simhash = importlib.import_module("simhash").Simhash

    def sign(self, document: Document) -> Any:
        text = whole_text(document.html)
        return self._simhash(text).value if text.strip() else None


class PypiSimhashFeatures(PypiSimhash):
    """Given a list of three characters each, as the example of its documentation does."""

    def sign(self, document: Document) -> Any:
        text = "".join(_words(document.html))
        features = [text[i : i + 3] for i in range(max(len(text) - 2, 1))]
        return self._simhash(features).value if text else None


class Seomoz(_Bits):
    """seomoz's C++, of whose module and PyPI simhash's only one can be called simhash."""

    package = "simhash-pybind"

    def __init__(self, folder: Path) -> None:
        init = folder / "simhash" / "__init__.py"
        spec = importlib.util.spec_from_file_location("seomoz", init)
        if spec is None or spec.loader is None or not init.is_file():
            raise ModuleNotFoundError(f"{init} is not there")
        self._seomoz = importlib.util.module_from_spec(spec)
        sys.modules["seomoz"] = self._seomoz
        spec.loader.exec_module(self._seomoz)

    def sign(self, document: Document) -> Any:
        shingles = self._seomoz.shingle(_words(document.html), _SEOMOZ_SHINGLE_WORDS)
        hashes = [self._seomoz.unsigned_hash(" ".join(words).encode()) for words in shingles]
        return self._seomoz.compute(hashes) if hashes else None


class Trafilatura(_Bits):
    """Its text, and its Simhash of that; with its caches emptied, as pages of a crawl are new."""

    package = "trafilatura"

    def __init__(self) -> None:
        self._trafilatura = importlib.import_module("trafilatura")
        self._simhash = importlib.import_module("trafilatura.deduplication").Simhash

    def learn(self, documents: Sequence[Document]) -> None:
        importlib.import_module("trafilatura.meta").reset_caches()
        self._simhash("its table of punctuation is built at the first call。")

    def sign(self, document: Document) -> Any:
        text = self._trafilatura.extract(document.html)
        return self._simhash(text).hash if text else None


class _MinHashes:
    """Twins are what a MinHashLSH finds for each other."""

    package = "datasketch"

    def __init__(self) -> None:
        self._datasketch = importlib.import_module("datasketch")

    def learn(self, documents: Sequence[Document]) -> None:
        """Nothing to learn."""

    def joined(self, signatures: Signatures, pairs: PairNames) -> list[bool]:
        lsh = self._lsh()
        for name, signature in signatures.items():
            if signature is not None:
                lsh.insert(name, signature)
        found = {
            name: set(lsh.query(signature))
            for name, signature in signatures.items()
            if signature is not None
        }
        return [b in found.get(a, ()) for a, b in pairs]

    def _lsh(self) -> Any:
        return self._datasketch.MinHashLSH()

    def _minhash(self, members: Iterable[str]) -> Any:
        encoded = [member.encode() for member in members]
        if not encoded:
            return None
        minhash = self._datasketch.MinHash()
        minhash.update_batch(encoded)
        return minhash


class ShingleMinHash(_MinHashes):
    """Shingles of five words, and its default threshold."""

    def sign(self, document: Document) -> Any:
        return self._minhash(_shingles(_words(document.html), _SHINGLE_WORDS))


class MainTextMinHash(_MinHashes):
    """The same of this project's main text and words: what is left is how to compare."""

    def sign(self, document: Document) -> Any:
        try:
            return self._minhash(_shingles(tokens(main_text(parse(document.html))), _SHINGLE_WORDS))
        except PageError:
            return None


class WordMinHash(_MinHashes):
    """Words, and the threshold of its documentation's example."""

    def sign(self, document: Document) -> Any:
        return self._minhash(set(_words(document.html)))

    def _lsh(self) -> Any:
        return self._datasketch.MinHashLSH(threshold=_DOCUMENTED_JACCARD)


class MaybeDont(_MinHashes):
    """How it compares contents: what its prediction from URLs learns from."""

    package = "MaybeDont"

    def __init__(self) -> None:
        self._middleware = importlib.import_module("maybedont.scrapy_middleware")
        self._minhash_of = importlib.import_module("maybedont.utils").get_min_hash
        self._predictor: Any = None

    def learn(self, documents: Sequence[Document]) -> None:
        texts = [self._text(document) for document in documents]
        self._predictor = importlib.import_module("maybedont").DupePredictor(texts_sample=texts)

    def sign(self, document: Document) -> Any:
        text = self._text(document)
        too_common = self._predictor.too_common_shingles
        return self._minhash_of(text, too_common) if text.strip() else None

    def _text(self, document: Document) -> str:
        response = HtmlResponse("http://peer.example/", body=document.html, encoding="utf-8")
        text: str = self._middleware.extract_text(response)
        return text

    def _lsh(self) -> Any:
        return self._predictor.lsh


class _Keys:
    """Twins have one key, made of the URL."""

    def learn(self, documents: Sequence[Document]) -> None:
        """Nothing to learn."""

    def joined(self, signatures: Signatures, pairs: PairNames) -> list[bool]:
        return [signatures[a] == signatures[b] for a, b in pairs]


class UrlDiscarder(_Keys):
    """With the rules that are published for it."""

    package = "duplicate-url-discarder"

    def __init__(self) -> None:
        # It would fetch the public suffix list; the one that comes with tldextract will do.
        tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
        rules = importlib.import_module("duplicate_url_discarder_rules").RULE_PATHS
        module = importlib.import_module("duplicate_url_discarder.url_canonicalizer")
        self._canonicalizer = module.UrlCanonicalizer(rules)

    def sign(self, document: Document) -> Any:
        return fingerprint(Request(self._canonicalizer.process_url(document.url)))


class DeltaFetch(_Keys):
    """What it knows a request by from one crawl to the next."""

    package = "scrapy-deltafetch"

    def __init__(self) -> None:
        middleware = importlib.import_module("scrapy_deltafetch").DeltaFetch
        crawler = get_crawler(settings_dict={"DELTAFETCH_ENABLED": True})
        self._fingerprint = middleware.from_crawler(crawler).fingerprint

    def sign(self, document: Document) -> Any:
        return self._fingerprint(Request(document.url or ""))


# Looked into and left out.
NOT_MEASURED = {
    "text-dedup": "needs PySpark, ONNX Runtime and an urllib3 below 2.0.1; reads data sets"
}


def contenders(seomoz: Path, *, urls: bool) -> tuple[dict[str, Contender], dict[str, str]]:
    """Those that can be had here, by what they are called in the table, and why others can't."""
    makers: dict[str, Any] = {
        "this project": Project,
        "PyPI simhash, text": PypiSimhash,
        "PyPI simhash, 3 characters": PypiSimhashFeatures,
        "seomoz (C++), 4 words": lambda: Seomoz(seomoz),
        "datasketch, 5 words, .9": ShingleMinHash,
        "datasketch, words, .5": WordMinHash,
        "datasketch, our main text, .9": MainTextMinHash,
        "trafilatura, its Simhash": Trafilatura,
        "MaybeDont, contents": MaybeDont,
        "duplicate-url-discarder, URLs": UrlDiscarder if urls else None,
        "scrapy-deltafetch, URLs": DeltaFetch if urls else None,
    }
    found: dict[str, Contender] = {}
    left_out = dict(NOT_MEASURED)
    for name, make in makers.items():
        if make is None:
            left_out[name] = "these pages have no URLs"
            continue
        try:
            found[name] = make()
        except ModuleNotFoundError as error:
            left_out[name] = str(error)
    return found, left_out


def versions(found: Iterable[Contender], seomoz: Path) -> str:
    """The packages that ran, with their versions."""
    paths = [*sys.path, str(seomoz)]
    told = {
        one.metadata["Name"].lower(): one.version
        for one in importlib.metadata.distributions(path=paths)
    }
    packages = dict.fromkeys(contender.package for contender in found)
    return ", ".join(f"{package} {told.get(package.lower(), '?')}" for package in packages)
