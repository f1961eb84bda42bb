"""What hostile pages take, held to 2 s of CPU, and to 20 x their size and 200 MB of memory.

    python -m tests.long.hostile [--bytes 5000000] [--only NAME]

Each in a process of its own, with the compiled kernel and without: CPU seconds and peak memory of a
fingerprint by the default options, without what the program and its dictionaries take. The 200 MB
are for as many tags and words as may be read, whatever the size of the page. Exit code 1 when a
page takes more. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import re
import resource
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, PageError
from tests.long.hostile_pages import PAGES
from tests.same import by_python

MAX_SECS = 2.0
MAX_TIMES = 20
CONSTANT_BYTES = 200_000_000
_KILLED_SECS = 60  # of CPU


def measured(fingerprinter: Fingerprinter, name: str, size: int) -> tuple[float, int, int, str]:
    """CPU seconds, bytes of peak memory, bytes of the page, and what came of it."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_run, args=(fingerprinter, name, size, sending))
    process.start()
    sending.close()
    try:
        found: tuple[float, int, int, str] = receiving.recv()
    except EOFError:
        found = float("inf"), 0, size, "killed"
    process.join()
    return found


def _run(fingerprinter: Fingerprinter, name: str, size: int, sending: Connection) -> None:
    html = PAGES[name](size)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is that of making the page
    before, started = _peak_bytes(), time.process_time()
    spent = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + _KILLED_SECS,) * 2)
    try:
        page = fingerprinter.fingerprint(html, "http://a.example/b/c.html")
        told = f"{page.tokens:,} tokens" + (", cut" if page.cut else "")
    except PageError as error:
        told = error.kind
    secs = time.process_time() - started
    length = len(html) if isinstance(html, bytes) else sys.getsizeof(html)
    sending.send((secs, _peak_bytes() - before, length, told))


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+)", status)
    return int(kilobytes) * 1024


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=5_000_000)
    parser.add_argument("--only", action="append", choices=PAGES, metavar="NAME")
    arguments = parser.parse_args()
    fingerprinter = Fingerprinter()
    fingerprinter.fingerprint(b"<meta charset=gbk><p>" + "中文港口 word ".encode("gbk") * 100)
    rows, above = [], []
    for way, chosen in (("compiled", contextlib.nullcontext), ("Python", by_python)):
        for name in arguments.only or PAGES:
            with chosen():
                secs, peak, size, told = measured(fingerprinter, name, arguments.bytes)
            row = [name, way, f"{secs:.2f}", f"{peak / size:.1f}", f"{peak / 1e6:.0f}", told]
            print(*row, sep=", ", file=sys.stderr, flush=True)
            rows.append(row)
            if secs > MAX_SECS or peak > MAX_TIMES * size + CONSTANT_BYTES:
                above.append(name)
    print(markdown("page, by, CPU s>, peak / page>, MB>, outcome", rows))
    print(f"\n{len(above)} of {len(rows)} above the bound: {', '.join(above) or 'none'}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
