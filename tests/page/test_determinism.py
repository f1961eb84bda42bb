"""Fingerprints are the same on every machine, in every process, with or without the fast parts.

A change of a literal here is a change for every stored fingerprint: raise FINGERPRINT_VERSION and
name it in CHANGELOG under "Fingerprints change".
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, PageFingerprint, content_fingerprint

PINNED = {
    "/en/port/crane-seven": (
        "2f0d74c1f8c86cc9",
        "f955e560d6ca6c02",
        "ec4fc4520e4bc8f8d077d4b1ff821c5d",
    ),
    "/zh/gangkou/haiyan-ferry": (
        "5c60cd9fbf6e4a8e",
        "f954e560f6ca6c02",
        "85d7586f2663b2a3023508945a3db4c7",
    ),
    "/en/forum/heron-on-the-weir": (
        "e3ad9105c4db2e84",
        "e954a7e8f4cafcc3",
        "e0830043edf5f04e7347b95e8f8d49b",
    ),
    "/en/shop/oiled-smock": (
        "f17d7d4a043b72b9",
        "795da7a8d4ceec82",
        "1bfa163b8269d4acbb8c303939d7fdec",
    ),
    "/zh/hant/clock-repair": (
        "9c81281f977e43ae",
        "f955e560f6ca6c02",
        "cd02372cbe6b63108643f209ec336431",
    ),
    "/ja/minato/toudai": (
        "97070d6dd6c22e32",
        "f955e560f6ca6c02",
        "48e212eb2b0108d1b1dba5723ce5652",
    ),
    "/zh/meishi/zaodian-gbk": (
        "7430441ac55c5e1f",
        "f955e560d6ca6c02",
        "36126e5620326b8249e448e9ae145f0",
    ),
}

PRINT = """
import sys
if sys.argv[1] == "without":
    sys.modules["rjieba"] = None
from tests.page.test_determinism import PINNED, fingerprint, values
print({path: values(fingerprint(path)) for path in PINNED})
"""


def fingerprint(path: str) -> PageFingerprint:
    return Fingerprinter().fingerprint(all_pages()[path].body)


def values(page: PageFingerprint) -> tuple[str, str, str]:
    numbers = (page.content, page.structure, page.sketch)
    content, structure, sketch = ("" if number is None else f"{number:016x}" for number in numbers)
    return content, structure, sketch


@pytest.mark.parametrize("path", PINNED)
def test_fingerprints_are_what_they_were(path: str) -> None:
    assert values(fingerprint(path)) == PINNED[path]


def test_the_content_fingerprint_of_plain_text_is_what_it_was() -> None:
    assert content_fingerprint("The fog bell rings. 雾中的钟声响了。") == 0x1F4858CA4041645E


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
@pytest.mark.parametrize("rjieba", ["with", "without"])
def test_neither_hash_seed_nor_rjieba_move_fingerprints(seed: str, rjieba: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PRINT, rjieba],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == str(PINNED)


def test_a_thread_makes_the_same_fingerprints() -> None:
    found = {}

    def run() -> None:
        found.update({path: values(fingerprint(path)) for path in PINNED})

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == PINNED
