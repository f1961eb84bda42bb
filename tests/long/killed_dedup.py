"""`dedup` killed at 12 moments and run again: the same answer, and nothing is left behind.

    python -m tests.long.killed_dedup [--kills 12] [--stories 300]

Each killed job is followed by a whole one with the same outputs. Its result and copies must be
those of a job that nobody killed, and no parts or processes may be left. Exit code 1 otherwise.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.progress import track

from tests.long import parser_of
from tests.long.drills.readers import is_there
from tests.long.drills.stories import page

WORKERS_END_SECS = 10  # after their job was killed


def write_feed(path: Path, stories: int) -> None:
    """Each story twice, on two hosts."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(2 * stories):
            url = f"http://{'ab'[number // stories]}.example/{number % stories}"
            file.write(json.dumps({"url": url, "html": page(number % stories)}) + "\n")


def begin(folder: Path, stderr: int | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "scrapy", "simhash", "dedup", "feed.jsonl", "-o", "out.jsonl"]
    command += ["--copies", "copies", "--store", "seen.sqlite"]
    for path in folder.glob("seen.sqlite*"):  # a store that has pages is refused
        path.unlink()
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr)


def answer(folder: Path) -> tuple[int, bytes, bytes, list[str]]:
    """Exit code, result and copy of a whole job, and what is in its folders."""
    code = begin(folder).wait()
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    result, copy = folder / "out.jsonl", folder / "copies" / "feed.jsonl"
    return code, result.read_bytes(), copy.read_bytes(), names


def workers_of(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def killed_after(folder: Path, secs: float) -> int:
    """How many of its processes outlive a job that is killed."""
    job = begin(folder, subprocess.DEVNULL)
    time.sleep(secs)
    workers = workers_of(job.pid)
    job.kill()
    job.wait()
    give_up = time.monotonic() + WORKERS_END_SECS
    while (left := sum(map(is_there, workers))) and time.monotonic() < give_up:
        time.sleep(0.1)
    return left


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--stories", type=int, default=300)
    options = parser.parse_args()
    left = differing = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_feed(folder / "feed.jsonl", options.stories)
        started = time.monotonic()
        right = answer(folder)
        secs = time.monotonic() - started
        for kill in track(range(options.kills), "kills"):
            left += killed_after(folder, secs * (kill + 0.5) / options.kills)
            differing += answer(folder) != right
    print(
        f"dedup killed {options.kills} times within {secs:.1f} s and run again: "
        f"{differing} other answers or folders, {left} processes left"
    )
    return 1 if right[0] or differing or left else 0


if __name__ == "__main__":
    sys.exit(main())
