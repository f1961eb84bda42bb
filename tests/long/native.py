"""Random texts, blocks and pages for the compiled kernel, compared with the Python; wrong calls.

    python -m tests.long.native [--inputs 1000000] [--calls 126000] [--folder FOLDER] [--seed 1]

The pages of the zips in the folder are read too. The kernel is built apart, with address and
undefined-behaviour sanitizers, which end the process at a fault. Linux with gcc only.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from rich.progress import track

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, PageError, native
from simhash_pipeline.options import Options
from simhash_pipeline.page import compiled, segment
from simhash_pipeline.page.blocks import Blocks
from simhash_pipeline.page.boilerplate import main_blocks
from simhash_pipeline.page.hashing import TokenHashes, hashed
from simhash_pipeline.page.visible import NONE, visible_text
from simhash_pipeline.specific_text import specific_sample
from tests.long import parser_of
from tests.long.fuzz_inputs import mutated
from tests.long.wrong_calls import BATCH, Sound, load_kernel, sound_calls, wrong_call
from tests.made_blocks import TITLE, made_blocks
from tests.made_pages import soup
from tests.same import BothWays, by_python, pages_of, read_otherwise

# Letters and marks of many scripts, what folds in a way of its own, and what is no character.
_TELLING = (
    "aZ_09 \n.,'ßéſ\u00ad\u200b\u200c\ufeff\u0301\u0338\u05d0\u05b0\u064b\u0905\u0966\u0e01\u1100"
    "\u1161\u11a8\uac00\u3042\u304b\u3099\u30ab\u309b\uff76\uff9e\uff21\uff0c\u3000\u2026\u2025½İΣς"
    "Аё\u9fd5\u9fd6\u3400\uf900\U00020000\U0001b000\U0001f600\ud800\udfff\ufdfa\0"
)
_HAN = "中国人的一是不在海港北京大学生前来应聘王小明杭研大厦工信处女干事每月经过下属科室"
_Job = TypeVar("_Job")
_LONGEST = 12_000
_BATCH = 500
_ROOT = Path(__file__).parents[2]
_BUILT = _ROOT / "output" / "sanitized"
_CFLAGS = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
_DEMO = [page.body for page in all_pages().values() if len(page.body) < 30_000]


def _text(rng: random.Random) -> str:
    alphabet = rng.choice([_TELLING, _HAN, _TELLING + _HAN, "ab ", _HAN[:2]])
    if rng.random() < 0.05:
        alphabet += "".join(chr(rng.randrange(0x110000)) for _ in range(5))
    longest = _LONGEST if rng.random() < 0.0005 else 60
    return "".join(rng.choices(alphabet, k=rng.randrange(longest)))


def _page(rng: random.Random) -> bytes:
    return mutated(rng, rng.choice(_DEMO), _DEMO) if rng.random() < 0.2 else soup(rng)


def differing_text(rng: random.Random) -> str | None:
    """A text whose tokens, content fingerprint or sketch are not the Python's."""
    text, sizes = _text(rng), Options().ngrams
    tokens = TokenHashes(found := compiled.hashed_words(text))
    content, sketch = tokens.content(sizes), tokens.sketch(3)
    with by_python():
        is_alike = found == hashed(segment.words(text))
        is_alike &= (content, sketch) == (tokens.content(sizes), tokens.sketch(3))
    return None if is_alike else text


def differing_blocks(rng: random.Random) -> list[str] | None:
    """Blocks whose sample is not the Python's."""
    alphabet = rng.choice(["ab", "abc é中 \0", _HAN])
    longest = 5_000 if rng.random() < 0.002 else 60
    blocks = [
        "".join(rng.choices(alphabet, k=rng.randrange(1, longest))) for _ in range(rng.randrange(8))
    ]
    is_main = [rng.random() < 0.5 for _ in blocks]
    masks = bytes(rng.choice([0, 0, 1, 3, NONE]) for _ in blocks)
    found = visible_text(blocks, is_main, masks)
    with by_python():
        return None if visible_text(blocks, is_main, masks) == found else blocks


def differing_rules(rng: random.Random) -> Blocks | None:
    """Blocks whose main text is not the Python's."""
    page = made_blocks(rng)
    found = main_blocks(page, TITLE)
    with by_python():
        return None if main_blocks(page, TITLE) == found else page


def differing_page(rng: random.Random, both: BothWays) -> bytes | None:
    """A page of which any field, or part that is read, is not the Python's."""
    page = _page(rng)
    return page if both.differing_page(page) or read_otherwise(page) else None


def differing_input(number: int, rng: random.Random, both: BothWays) -> object | None:
    """The next input, if its answers differ. One in sixteen is a page, which takes the longest."""
    if number % 16 == 0:
        return differing_page(rng, both)
    if number % 8 == 0:
        return differing_blocks(rng)
    return differing_rules(rng) if number % 8 == 1 else differing_text(rng)


def _run_sanitized() -> int:
    """Builds the kernel and runs this program with it; the runtimes have to be loaded first."""
    build = ["setup.py", "-q", "build_ext", "--build-lib", str(_BUILT)]
    environment = {**os.environ, "SIMHASH_CFLAGS": _CFLAGS, "SIMHASH_REQUIRE_NATIVE": "1"}
    temporary = ["--build-temp", str(_BUILT / "temp")]
    subprocess.run([sys.executable, *build, *temporary], cwd=_ROOT, env=environment, check=True)
    runtimes = [
        subprocess.check_output(["gcc", f"-print-file-name={name}.so"], text=True).strip()
        for name in ("libasan", "libubsan")
    ]
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=0",
        "LD_PRELOAD": " ".join(runtimes),
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-m", "tests.long.native", "--built", *sys.argv[1:]]
    return subprocess.run(command, cwd=_ROOT, env=environment, check=False).returncode


def _sanitized() -> Any:
    """The sanitized module."""
    (path,) = (_BUILT / "simhash_pipeline" / "native").glob("_kernel.*")
    return load_kernel(path)


def _load() -> None:
    """Takes the sanitized module for this process."""
    native.kernel = _sanitized()


def _first_differing(batch: tuple[int, int, int]) -> str | None:
    """What is wrong with an input of a batch, which is the same for its seed and first number."""
    seed, first, inputs = batch
    rng, both = random.Random(f"{seed} {first}"), BothWays(Options(min_tokens=1))
    for number in range(first, min(first + _BATCH, inputs)):
        found = differing_input(number, rng, both)
        if found is not None:
            return f"input {number} of seed {seed} differs: {found!r}"
    return None


def _unread_page(named: tuple[str, bytes]) -> str | None:
    """What is wrong with a page of a zip by the kernel alone; tests/same.py compares them."""
    name, html = named
    try:
        page = _reader().fingerprint(html, "http://a.example/page")
        specific_sample(page.sample or b"", frozenset(page.blocks[::2]))
    except PageError:
        return None
    except Exception as error:  # a page ends with a fingerprint or a PageError, whatever it holds
        return f"{name}: {error!r}"
    return None


@cache
def _reader() -> Fingerprinter:
    return Fingerprinter()


def _wrong_call(seed: str) -> str | None:
    kernel, sound = _called()
    return wrong_call(kernel, sound, seed)


@cache
def _called() -> tuple[Any, Sound]:
    """The sanitized module as it is loaded, without tables, and what the package gives another."""
    return _sanitized(), sound_calls()


def _faults(
    about: str,
    work: Callable[[_Job], str | None],
    jobs: Iterable[_Job],
    initializer: Callable[[], None] | None = _load,
) -> int:
    """How many jobs find something wrong, each on all cores."""
    faults, jobs = 0, list(jobs)
    if not jobs:
        return 0
    with ProcessPoolExecutor(initializer=initializer) as pool:
        for found in track(pool.map(work, jobs), about, total=len(jobs)):
            if found is not None:
                print(found, flush=True)
                faults += 1
    print(f"{len(jobs):,} {about}: {faults} at fault")
    return faults


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=126_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--built", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if not args.built:
        return _run_sanitized()
    seeds = (f"{args.seed} {first}" for first in range(0, args.calls, BATCH))
    faults = _faults(f"batches of {BATCH} wrong calls", _wrong_call, seeds, initializer=None)
    if args.folder:
        faults += _faults("real pages", _unread_page, pages_of(args.folder))
    batches = [(args.seed, first, args.inputs) for first in range(0, args.inputs, _BATCH)]
    faults += _faults(f"batches of {_BATCH} inputs", _first_differing, batches)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
