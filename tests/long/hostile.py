"""What hostile pages take, held to 2.5 s of CPU, and to 20 x their size and 450 MB of memory.

Each is read and judged with an item of its values, and then again at a second address, beside the
first one: half of the seconds count. A page four times as long may take six times as long.

    python -m tests.long.hostile [--bytes 5000000] [--only NAME]

Each in a process of its own, with the compiled kernel and without: CPU seconds and peak memory of
`Judge.judge` by the default options, without what the program and its dictionaries take. The 450 MB
are for as many tags and words as may be read, whatever the size of the page. Exit code 1 when a
page takes more. Linux only.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import resource
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.table import markdown
from simhash_pipeline import Fingerprinter, Judge, Options, PageError
from simhash_pipeline.items import said_by, with_values
from simhash_pipeline.page.source import Source
from tests.long import parser_of
from tests.long.hostile_pages import PAGES
from tests.same import by_python

MAX_SECS = 2.5
MAX_TIMES = 20
MAX_GROWTH = 6  # of the seconds, for four times the bytes; quadratic work makes it 16
LEAST_SECS = 0.2  # below it a growth is noise
CONSTANT_BYTES = 450_000_000
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
        with Judge() as judge:
            for address in ("http://a.example/b/c.html", "http://a.example/b/d.html"):
                page = fingerprinter.fingerprint(html, address)
                text = page.text[:200_000]
                words = dict(enumerate(text.split()[:500]))
                item = {"title": page.title, "body": text, "words": words, "price": 12.5}
                source = with_values(Source(html, address), item, Options())
                judge.judge(address, page, said_by(page, source))
        told = f"{page.tokens:,} tokens" + (", cut" if page.cut else "")
    except PageError as error:
        told = error.kind
    secs = (time.process_time() - started) / 2
    length = len(html) if isinstance(html, bytes) else sys.getsizeof(html)
    sending.send((secs, _peak_bytes() - before, length, told))


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+)", status)
    return int(kilobytes) * 1024


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--bytes", type=int, default=5_000_000)
    parser.add_argument("--only", action="append", choices=PAGES, metavar="NAME")
    arguments = parser.parse_args()
    rows, above = [], []
    for way, chosen in (("compiled", contextlib.nullcontext), ("Python", by_python)):
        with chosen():
            fingerprinter = Fingerprinter()
            fingerprinter.fingerprint(
                b"<meta charset=gbk><p>" + "中文港口 word ".encode("gbk") * 100
            )
        for name in arguments.only or PAGES:
            with chosen():
                shorter, *_ = measured(fingerprinter, name, arguments.bytes // 4)
                secs, peak, size, told = measured(fingerprinter, name, arguments.bytes)
            grows = f"{secs / shorter:.1f}" if secs > LEAST_SECS else ""
            figures = [f"{secs:.2f}", grows, f"{peak / size:.1f}", f"{peak / 1e6:.0f}"]
            row = [name, way, *figures, told]
            print(*row, sep=", ", file=sys.stderr, flush=True)
            rows.append(row)
            is_steep = secs > max(LEAST_SECS, MAX_GROWTH * shorter)
            if secs > MAX_SECS or is_steep or peak > MAX_TIMES * size + CONSTANT_BYTES:
                above.append(name)
    print(markdown("page, by, CPU s>, / of a quarter>, peak / page>, MB>, outcome", rows))
    print(f"\n{len(above)} of {len(rows)} above the bound: {', '.join(above) or 'none'}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
