"""Hostile arguments of the commands that look into logs and stores: a sentence, never a traceback.

    python -m tests.long.arguments [--runs 2000] [--seed 0]

An exit code is 0, 1 or 2, and with 2 there is one line on stderr. The files that are named are
sound, damaged, of another kind or missing. Exit code 1 when something breaks that.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from rich.progress import track
from scrapy.cmdline import execute
from scrapy.settings import Settings

from simhash_pipeline import Judge, Options
from simhash_pipeline.page.fingerprint import Fingerprinter
from simhash_pipeline.stores.opening import open_store
from tests.crawl.crawling import inside
from tests.long import parser_of
from tests.long.drills.stories import page
from tests.long.fuzz_inputs import DROP_LOG_LINES, SETTINGS, mutated, url_of

FILES = ["seen.sqlite", "drops.jsonl", "answers.csv", "a.html", "b.html"]
TEXTS = [
    "", ".", "/", "-", "--", "-x", "nosuch", "no/such/file", "x" * 300, "x" * 5_000, "港", "%s {0}",
    "\n", "\x1b[2J", "a\udcffb", "0", "1", "-1", "0.5", "nan", "1e999", "9" * 5_000, "all", "last",
    "90d", "0s", "f" * 16, "0" * 15, "memory:", "sqlite:///", "redis://localhost?lost=keep",
    "sqlite:///a.html", "redis://127.0.0.1:1/0", "redis://x:y@[", "nodb://a", "a.example",
]  # fmt: skip
_UNSENT = {0: None, 0xD800: 0xDCFF}  # what no shell passes on
# A sound value of each option, "" where it takes none, and of what stands alone.
OPTIONS = {
    "explain": {"--log": "drops.jsonl", "--limit": "3", "-S": "seen.sqlite", "--spider": "s"},
    "tune": {"--spider": "s", "--precision": "0.9"},
    "rules": {"--min-support": "1", "--take": "sid", "-o": "out.json", "-S": "seen.sqlite"},
    "compare": {"--limit": "3"},
    "dropped": {"--spider": "s", "--run": "all", "--kept": "", "--csv": ""},
    "store info": {"-S": "seen.sqlite", "--spider": "s"},
    "store forget": {"-S": "seen.sqlite", "--unseen": "90d", "--all": "", "--yes": ""},
    "store copy": {},
}
PLACES = {
    "explain": ["http://a.example/1"],
    "tune": ["answers.csv"],
    "compare": ["a.html", "b.html"],
    "store info": [],
    "store forget": ["http://a.example/1"],
    "store copy": ["seen.sqlite", "copy.sqlite"],
}


def write_files(chance: random.Random, folder: Path) -> None:
    """The files of FILES anew; each is damaged at one time in three."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    with open_store(f"sqlite:///{folder / 'seen.sqlite'}") as store:
        judge = Judge(store, Options(keep_text=True))
        for number in range(4):
            found = Fingerprinter().fingerprint(page(number))
            judge.judge(f"http://a.example/{number}", found)
    (folder / "drops.jsonl").write_bytes(b"\n".join(DROP_LOG_LINES) + b"\n")
    sheet = "answer,twin_url,url,distance\ny,http://a.example/1,http://a.example/2,1\n"
    (folder / "answers.csv").write_text(sheet)
    for number, name in enumerate(FILES[3:]):
        (folder / name).write_text(page(number))
    for name in FILES:
        if chance.random() < 1 / 3:
            damaged = mutated(chance, (folder / name).read_bytes(), DROP_LOG_LINES)
            (folder / name).write_bytes(damaged)


def arguments_of(chance: random.Random) -> list[str]:
    """A command, with some of its options and what it takes beside."""
    command = chance.choice(list(OPTIONS))
    found, options = command.split(), OPTIONS[command]
    for option in chance.sample(list(options), chance.randrange(len(options) + 1)):
        if chance.random() < 0.5:
            found += [option, *([_value(chance, options[option])] if options[option] else [])]
    if chance.random() < 0.3:
        name = chance.choice([*Options.__dataclass_fields__, "store", "drop_log", "x"]).upper()
        found += ["-s", f"SIMHASH_{name}={_text(chance, SETTINGS)}"]
    if chance.random() < 0.1:
        found.append(chance.choice(["--json", "-x", "--spider"]))
    places = [_value(chance, place) for place in PLACES.get(command, ["drops.jsonl"])]
    if chance.random() < 0.1:
        places = chance.choice([places[1:], [*places, _text(chance, TEXTS)]])
    return found + places


def _value(chance: random.Random, sound: str) -> str:
    """A sound value, more often than not; `compare` would fetch a URL."""
    if chance.random() < 0.6:
        return sound
    if sound.startswith("http") and chance.random() < 0.5:
        return url_of(chance).translate(_UNSENT)
    return _text(chance, [*FILES, *TEXTS])


def _text(chance: random.Random, values: Sequence[object]) -> str:
    return str(chance.choice(values)).translate(_UNSENT)


def fault(arguments: list[str]) -> tuple[int, str | None]:
    """The exit code, and what is wrong with the command's end, if anything."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    streams = (contextlib.redirect_stdout(out), contextlib.redirect_stderr(err))
    with streams[0], streams[1], patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())):
        try:
            execute(["scrapy", "simhash", *arguments], Settings())
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
        except BaseException:  # whatever it is, a command must not let it out
            return -1, traceback.format_exc()
    lines = err.getvalue().splitlines()
    if code not in (0, 1, 2) or "Traceback" in err.getvalue():
        return code, f"exit code {code}: {err.getvalue()}"
    if code == 2 and len(lines) != 1:
        return code, f"exit code 2 with {len(lines)} lines: {err.getvalue()}"
    return code, None


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    codes: Counter[int] = Counter()
    faults = 0
    with tempfile.TemporaryDirectory() as name, inside(Path(name)):
        for number in track(range(options.runs), "commands"):
            chance = random.Random(f"{options.seed} {number}")
            if number % 20 == 0:
                write_files(chance, Path(name))
            arguments = arguments_of(chance)
            code, wrong = fault(arguments)
            codes[code] += 1
            if wrong is not None:
                faults += 1
                print(f"{number}: {[each[:99] for each in arguments]}\n{wrong}", flush=True)
    counts = ", ".join(f"{count:,} ended with {code}" for code, count in sorted(codes.items()))
    print(f"{options.runs:,} commands with hostile arguments, {counts}: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
