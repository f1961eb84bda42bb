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
from tests.page.rules import rules_digest

PINNED = {
    "/en/port/crane-seven": (
        "e55d75e1d0596c8c",
        "f955e560d6ca6c02",
        "42ca3e21ce519a1f8316a005ba12e327",
    ),
    "/zh/gangkou/haiyan-ferry": (
        "44e0c99e3f4f4a0e",
        "f954e560f6ca6c02",
        "afc79276134490b2d257d8910c424e49",
    ),
    "/en/forum/heron-on-the-weir": (
        "ed9db5c500db4efd",
        "e954a7e8f4cafcc3",
        "47655c601ffabf124cd1bc505cac9515",
    ),
    "/en/shop/oiled-smock": (
        "e155754c443b72a1",
        "795da7a8d4ceec82",
        "93b7f898329b041c410f71f45ba3bed",
    ),
    "/zh/hant/clock-repair": (
        "1c212e1f9f5e52af",
        "f955e560f6ca6c02",
        "89c0d8f3825dbcb78559b73af59da0ff",
    ),
    "/ja/minato/toudai": (
        "ff811d69e5b23c32",
        "f955e560f6ca6c02",
        "e31ea6667910c3f4947c219ae93754c7",
    ),
    "/zh/meishi/zaodian-gbk": (
        "3cb8681f975c6e0d",
        "f955e560d6ca6c02",
        "5738e5c824b0673223b9368ecc309d1b",
    ),
}

PRINT = """
from tests.page.rules import rules_digest
from tests.page.test_determinism import PINNED, fingerprint, values
print({path: values(fingerprint(path)) for path in PINNED}, rules_digest())
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
    assert content_fingerprint("The fog bell rings. 雾中的钟声响了。") == 0x6E582ECAC54D621E


def test_neither_hash_seed_nor_kernel_move_fingerprints_or_the_digest_of_rules() -> None:
    """This process has a seed of its own and mostly the kernel, the other one has neither."""
    result = subprocess.run(
        [sys.executable, "-c", PRINT],
        env={**os.environ, "PYTHONHASHSEED": "0", "SIMHASH_NATIVE": "0"},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == f"{PINNED} {rules_digest()}"


def test_a_thread_makes_the_same_fingerprints() -> None:
    found = {}

    def run() -> None:
        found.update({path: values(fingerprint(path)) for path in PINNED})

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == PINNED
