"""Random texts and blocks for the compiled kernel, each compared with the Python: make fuzz-native.

    python -m benchmarks.fuzz_native [--inputs 1000000] [--seed 1] [--kernel FILE]

`--kernel` is a kernel that was built apart, with sanitizers: they end the process at a fault.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import trange  # type: ignore[import-untyped]  # it has no type hints

from simhash_pipeline import native
from simhash_pipeline.options import Options
from simhash_pipeline.page import compiled, segment
from simhash_pipeline.page.hashing import TokenHashes, murmur3
from simhash_pipeline.page.simhash import simhash
from simhash_pipeline.page.visible import visible_text
from tests.same import by_python

# Letters and marks of many scripts, what folds in a way of its own, and what is no character.
_TELLING = (
    "aZ_09 \n.,'ßéſ\u00ad\u200b\u200c\ufeff\u0301\u0338\u05d0\u05b0\u064b\u0905\u0966\u0e01\u1100"
    "\u1161\u11a8\uac00\u3042\u304b\u3099\u30ab\u309b\uff76\uff9e\uff21\uff0c\u3000\u2026\u2025½İΣς"
    "Аё\u9fd5\u9fd6\u3400\uf900\U00020000\U0001b000\U0001f600\ud800\udfff\ufdfa\0"
)
_HAN = "中国人的一是不在海港北京大学生前来应聘王小明杭研大厦工信处女干事每月经过下属科室"
_LONGEST = 12_000


def _text(rng: random.Random) -> str:
    alphabet = rng.choice([_TELLING, _HAN, _TELLING + _HAN, "ab ", _HAN[:2]])
    if rng.random() < 0.05:
        alphabet += "".join(chr(rng.randrange(0x110000)) for _ in range(5))
    longest = _LONGEST if rng.random() < 0.0005 else 60
    return "".join(rng.choices(alphabet, k=rng.randrange(longest)))


def text_is_alike(text: str, options: Options) -> bool:
    """Whether tokens, content fingerprint and sketch are the Python's."""
    hashed = compiled.hashed_words(text)
    with by_python():
        words = segment.words(text)
    content, sketch = compiled.content_of(hashed, options), compiled.sketch_of(hashed, 3)
    if hashed.hashes() != murmur3(words, 128).tobytes():
        return False
    rows = TokenHashes(words)
    singles, pairs = rows.ngrams(1, 64), rows.ngrams(2, 64)
    expected = simhash(np.concatenate([singles, pairs]))
    return content == expected and sketch == simhash(rows.distinct_ngrams(3, 128))


def blocks_are_alike(rng: random.Random) -> bool:
    """Whether the sample of random blocks is the Python's."""
    alphabet = rng.choice(["ab", "abc é中 \0", _HAN])
    longest = 5_000 if rng.random() < 0.002 else 60
    blocks = [
        "".join(rng.choices(alphabet, k=rng.randrange(1, longest))) for _ in range(rng.randrange(8))
    ]
    is_main = [rng.random() < 0.5 for _ in blocks]
    menus = {number for number in range(len(blocks)) if rng.random() < 0.3}
    found = visible_text(blocks, is_main, "", menus)
    with by_python():
        return visible_text(blocks, is_main, "", menus) == found


def _loaded(path: Path) -> native.Kernel:
    name = "simhash_pipeline.native._kernel"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no kernel")
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: native.Kernel = module
    return kernel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", type=Path)
    args = parser.parse_args()
    if args.kernel is not None:
        native.kernel = _loaded(args.kernel)
    if native.kernel is None:
        parser.error("no kernel is built: SIMHASH_REQUIRE_NATIVE=1 pip install -e .")
    rng, options = random.Random(args.seed), Options()
    for number in trange(args.inputs, desc="inputs", mininterval=1, disable=None):
        text = _text(rng)
        if not (text_is_alike(text, options) if number % 8 else blocks_are_alike(rng)):
            print(f"input {number} of seed {args.seed} differs: {text!r}")
            return 1
    print(f"{args.inputs:,} inputs, none differs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
