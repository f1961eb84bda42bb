"""What it costs to find copies among made texts, here and by others, and which copies are found.

    python -m benchmarks.texts [--texts 20000] [--only NAME...]

Half of the texts have 400 words of their own, about 2.4 KB; each of the other half is a copy of one
of these, 1, 2 or 5 % of whose words are others. A contender is given one text after the other and
says whether it is near an earlier one. The others get the texts as sets of five words in a row, and
join at a Jaccard similarity of 0.8. Cost is CPU time, from text to answer.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import platform
import time
from collections.abc import Callable, Iterable
from functools import partial
from random import Random

from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Judge, Options
from tests.quality.made_texts import sentences_of, vocabulary

IsKnown = Callable[[int, str], bool]  # number, text -> whether an earlier text is near it

TEXTS = 20_000
WORDS = 400
CHANGED = (1, 2, 5)  # per cent
SHINGLE_WORDS = 5
JACCARD = 0.8
PERMUTATIONS = 128
_SEED = 7


def made(count: int, share: int) -> list[str]:
    """So many texts; the second half are copies with `share` per cent of the words changed."""
    chance, words = Random(_SEED), vocabulary("en")
    texts = [chance.choices(words, k=WORDS) for _ in range(count // 2)]
    copies = []
    for text in texts:
        copies.append([*text])
        for at in chance.sample(range(WORDS), WORDS * share // 100):
            copies[-1][at] = chance.choice(words)
    return [sentences_of(text, "en", " ") for text in (*texts, *copies)]


def _project(content: int, sketch: int) -> IsKnown:
    options = Options(content_distance=content, sketch_distance=sketch)
    reader, judge = Fingerprinter(options), Judge("memory:", options)
    return lambda number, text: (
        judge.judge(f"http://a.example/{number}", reader.fingerprint_text(text)).dropped
    )


def _shingles(text: str) -> set[str]:
    words = text.split()
    return {" ".join(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}


def _datasketch() -> IsKnown:
    datasketch = importlib.import_module("datasketch")
    lsh = datasketch.MinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS)

    def is_known(number: int, text: str) -> bool:
        minhash = datasketch.MinHash(PERMUTATIONS)
        minhash.update_batch([shingle.encode() for shingle in _shingles(text)])
        if lsh.query(minhash):
            return True
        lsh.insert(number, minhash)
        return False

    return is_known


def _rensa() -> IsKnown:
    made = importlib.import_module("rensa").RMinHashDeduplicator(JACCARD, PERMUTATIONS, True)
    return lambda number, text: not made.add_pairs([(str(number), _shingles(text))])[0]


def _gaoya() -> IsKnown:
    index = importlib.import_module("gaoya.minhash").MinHashStringIndex(
        jaccard_threshold=JACCARD, analyzer="word", ngram_range=(SHINGLE_WORDS, SHINGLE_WORDS)
    )

    def is_known(number: int, text: str) -> bool:
        if index.query(text):
            return True
        index.insert_document(number, text)
        return False

    return is_known


CONTENDERS: dict[str, Callable[[], IsKnown]] = {
    "this project": partial(_project, 3, 18),
    "this project, 6 bits and 24 of the sketch": partial(_project, 6, 24),
    "datasketch": _datasketch,
    "gaoya": _gaoya,
    "rensa": _rensa,
}


def _row(name: str, count: int) -> list[str]:
    spent, found, wrong = 0.0, [], 0
    for share in CHANGED:
        texts = made(count, share)
        is_known = CONTENDERS[name]()
        started = time.process_time()
        answers = [is_known(number, text) for number, text in enumerate(texts)]
        spent += time.process_time() - started
        found.append(f"{sum(answers[count // 2 :]) / (count // 2):.2f}")
        wrong += sum(answers[: count // 2])
    return [name, f"{1e6 * spent / count / len(CHANGED):.0f}", *found, str(wrong)]


def _versions(packages: Iterable[str]) -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    arguments = parser.parse_args()
    shares = ", ".join(f"{share} %>" for share in CHANGED)
    rows = [_row(name, arguments.texts) for name in arguments.only]
    print(markdown(f"texts, us a text>, {shares}, others joined>", rows))
    peers = [name for name in arguments.only if not name.startswith("this project")]
    print(f"Python {platform.python_version()}, {_versions(peers)}")


if __name__ == "__main__":
    main()
