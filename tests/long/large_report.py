"""A report of 300,000 drops: what it costs, and that it counts them all.

    python -m tests.long.large_report [--drops 300000]

Exit code 1 where it takes more than 60 s of CPU, 1 GB of memory or 100 MB, or miscounts.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.long import parser_of
from tests.review.logs import closing, drop, write_log

MOST_SECS, MOST_MB, MOST_FILE_MB = 60, 1_000, 100


def write_drops(path: Path, drops: int) -> None:
    """Of many sites and reasons; one in ten has a twin that many share."""
    chance = random.Random(1)
    rows = [
        drop(
            url=f"http://{chance.randrange(500)}.example/{number}",
            title=f"Story {number}",
            twin_url=f"http://a.example/{number if number % 10 else number % 70}",
            reason=chance.choice(["content", "thin", "item", "paragraph"]),
            content_distance=chance.randrange(4),
        )
        for number in range(drops)
    ]
    write_log(path, [*rows, closing(dropped={"content": drops})])


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--drops", type=int, default=300_000)
    drops = parser.parse_args().drops
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_drops(folder / "drops.jsonl", drops)
        command = [sys.executable, "-m", "scrapy", "simhash", "report", "drops.jsonl"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        said = "" if process.stdout is None else process.stdout.read().strip()
        _, status, used = os.wait4(process.pid, 0)
        size = (folder / "report.html").stat().st_size
    secs, mb, file_mb = used.ru_utime + used.ru_stime, used.ru_maxrss / 1_024, size / 1e6
    print(f"{drops:,} drops: {secs:.1f} s, {mb:.0f} MB of memory, a file of {file_mb:.1f} MB")
    is_right = status == 0 and f"{drops:,}" in said
    return 0 if is_right and secs < MOST_SECS and mb < MOST_MB and file_mb < MOST_FILE_MB else 1


if __name__ == "__main__":
    sys.exit(main())
