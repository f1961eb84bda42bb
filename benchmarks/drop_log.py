"""What a long drop log costs to sum up: CPU time and memory at the peak.

    python -m benchmarks.drop_log [drops, default 5e6]

Makes a log of so many drops by ten crawls, 700 bytes each, of a third as many kept pages on 5,000
hosts; then runs `scrapy simhash dropped` on it, and `report`, which lists its latest 100,000.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simhash_pipeline import Options
from simhash_pipeline.drop_log import Drop, DropLog, iso_time, read_log
from simhash_pipeline.judge import Verdict
from simhash_pipeline.page.fingerprint import PageFingerprint

HOSTS, RUNS = 5_000, 10
STARTED = 1_760_000_000
DROPS_A_SECOND = 40
NEARNESS = (0, 0, 0, 0, 1, 1, 2, 3)  # bits of content; of real drops half are the same to the bit


def main() -> None:
    drops = int(float(sys.argv[1])) if len(sys.argv) > 1 else 5_000_000
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "made.drops.jsonl"
        with log.open("w", encoding="utf-8") as file:
            file.writelines(made_lines(drops))
        print(f"{drops:,} drops, {log.stat().st_size / 1e9:.1f} GB")
        for command in (["dropped"], ["report", "-o", f"{directory}/report.html"]):
            seconds, peak_mb = cost([*command, str(log)])
            print(f"{command[0]}: {seconds:.0f} s of CPU, {peak_mb:.0f} MB at the peak")


def made_lines(drops: int) -> Iterator[str]:
    """Lines as a crawl writes them; some kept pages have thousands of drops, most one or two."""
    draw, line = random.Random(5), _line_of_a_crawl()
    for n in range(drops):
        story = int(drops * draw.random() ** 3 / 3)
        url = f"https://www.site{story % HOSTS}.example/en/city/story-{story}/night-bus-trial"
        bits = draw.choice(NEARNESS)
        line.update(
            time=iso_time(STARTED + n / DROPS_A_SECOND),
            run=f"{n * RUNS // drops:032x}",
            url=f"{url}?copy={n}",
            twin_url=url,
            content_distance=bits,
            structure_distance=draw.randrange(30),
            sketch_distance=bits * 5,
            content=f"{draw.getrandbits(64):016x}",
        )
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _line_of_a_crawl() -> dict[str, object]:
    verdict = Verdict("https://a.example/", dropped=True, reason="content", twin_first_seen=STARTED)
    page = PageFingerprint(1, 2, 3, "", "Night bus trial: what the council said", tokens=400)
    with tempfile.TemporaryDirectory() as directory:
        log = DropLog(Path(directory) / "log", run="", spider="site", options=Options())
        log.write(verdict, page)
        log.close()
        (drop,) = read_log(log.path)
    return {name: getattr(drop, name) for name in Drop.__slots__}


def cost(arguments: list[str]) -> tuple[float, float]:
    """CPU seconds of `scrapy simhash`, and megabytes at the peak of the largest run so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "scrapy", "simhash", *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1_000  # kilobytes on Linux


if __name__ == "__main__":
    main()
