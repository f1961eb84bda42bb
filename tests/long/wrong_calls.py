"""Wrong calls of the compiled kernel: what the package calls it with, and something in its place.

    python -m tests.long.wrong_calls [--calls 2000] [--seed 1]

Each batch of calls runs in a process of its own, some before the kernel has its tables. A call may
raise, and must where a type is wrong; none may crash, run for long or leave memory behind.
"""

from __future__ import annotations

import gc
import importlib.util
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from crawler.demo_site.pages import all_pages
from simhash_pipeline import Fingerprinter, native
from simhash_pipeline.page import blocks
from simhash_pipeline.specific_text import specific_sample
from tests.long import parser_of
from tests.long.fuzz_inputs import mutated

BATCH = 500
HANG_SECS = 10  # of CPU, a call
_MEASURED = 0.25  # of the batches run three times more, for what they leave in memory
_LEFT_BYTES = 2_000  # by the last time
_SETUPS = ("set_tables", "set_markup", "set_rules", "load_dictionary")
Sound = dict[str, list[tuple[Any, ...]]]  # by a function's name


class _Noting:
    """The kernel; what it is called with is noted."""

    def __init__(self, noted: Sound, of: Any) -> None:
        self._noted, self._of = noted, of

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            self._noted[name].append(_copied(given))
            return getattr(self._of, name)(*given)

        return call


def sound_calls() -> Sound:
    """What the package calls each function with for some pages."""
    noted: Sound = defaultdict(list)
    kernel = native.kernel
    native.kernel = noting = _Noting(noted, kernel)
    try:
        pages = [page.body for page in all_pages().values() if len(page.body) < 5_000]
        for html in [*pages[:30], "<title>港</title><p>北京大学生前来应聘".encode() * 9]:
            page = Fingerprinter().fingerprint(html)
            specific_sample(page.sample or b"", frozenset(page.blocks[:3]))
        noting.is_plain(pages[0])
    finally:
        native.kernel = kernel
    references, *others = noted["set_markup"][0]
    return noted | {"set_markup": [(references[:99], *others)]}  # of thousands


def load_kernel(path: Path) -> Any:
    """The module of that file, beside any other that is loaded."""
    spec = importlib.util.spec_from_file_location("simhash_pipeline.native._kernel", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no module")
    kernel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel)
    return kernel


class _Changing:
    """A number, flag or function that empties what it is given beside, and may raise."""

    def __init__(self, beside: list[Any], answer: Any) -> None:
        self._beside, self._answer = beside, answer

    def __call__(self, *given: Any) -> Any:
        for each in self._beside:
            if isinstance(each, (list, dict)):
                each.clear()
        if isinstance(self._answer, type):
            raise self._answer("by the test")
        return self._answer

    __index__ = __int__ = __float__ = __bool__ = __hash__ = __len__ = __call__


_ODD: dict[str, Any] = {"__len__": lambda self: 1 << 40, "__eq__": lambda self, other: 1 / 0}
_SUBCLASSES: dict[type, Any] = {
    of: type(f"My{of.__name__}", (of,), _ODD)
    for of in (str, bytes, int, float, list, tuple, dict, frozenset)
}
_ATOMS = [
    None, True, 0, 1, -1, 2, 64, 512, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 2**200, 0.5, -1.0,
    float("nan"), float("inf"), 1e300, "", "a", "\0", "\ud800", "中国人", "é" * 300, b"", b"\0",
    b"\n", b"<p", b"\xff" * 9, b"\0" * 4, b"\n\0\0" * 99, ..., object, KeyError, iter(()),
]  # fmt: skip
_ANSWERS = [None, 1, 0.5, "\ud800", b"x", ValueError, KeyError, MemoryError, StopIteration]
_DEEP = [b"<div>" * 2_000, b"<b><i>" * 900 + b"</b>" * 900, b"<a\xc3" * 500, b"&#x110000;" * 99]


def _hostile(chance: random.Random, sound: Any, beside: list[Any]) -> Any:
    """Something in the place of a sound argument."""
    kind, of = chance.randrange(8), type(sound)
    if kind == 0:
        return _Changing(beside, chance.choice(_ANSWERS))
    if kind == 1 and of in _SUBCLASSES:
        return _SUBCLASSES[of](sound)
    if kind == 2 and of is bytes:
        torn = mutated(chance, sound[:20_000], _DEEP)
        return chance.choice([torn, torn, bytearray(torn), memoryview(torn), *_DEEP])
    if kind == 3 and of is int:
        return chance.choice([-sound, sound + 1, sound * 1_000, sound << 31])
    if kind == 4 and of in (bytes, str, list, tuple):
        return chance.choice([sound[:-1], sound[1:], sound + sound[:5], sound[:0]])
    if kind == 5:
        deep: list[Any] = []
        for _ in range(1_000):
            deep = [deep]
        return chance.choice([deep, tuple(deep), [deep] * 50, {"a": deep}])
    if kind == 6:
        return chance.choice(list(_SUBCLASSES.values()))()
    return chance.choice([*_ATOMS, bytearray(9), memoryview(b"abcdefgh")[::2], [], {}, object()])


# What the kernel takes in the place of a type. Functions are called, not looked at.
_TAKES: dict[type, tuple[type, ...]] = {
    bool: (object,), str: (str, bytes), int: (int, _Changing), float: (int, float, _Changing),
    tuple: (tuple, list),
    type(blocks.hides): (object,), type(blocks.hint_of): (object,),
}  # fmt: skip


def _is_wrong(sound: Any, given: Any) -> bool:
    """Whether the kernel must refuse it: by its type, or that of something in its rows."""
    if not isinstance(given, _TAKES.get(type(sound), (type(sound),))):
        return True
    if type(sound) not in (list, tuple) or len(given) != len(sound):
        return False
    # Three columns of a row are asked for.
    return any(map(_is_wrong, sound[:3] if type(sound) is tuple else sound, given))


@dataclass
class _Call:
    """A call of a function, with arguments of which some are replaced."""

    name: str
    sound: tuple[Any, ...]
    given: list[Any] = field(init=False)
    replaced: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.given = _copied([*self.sound])

    def spoil(self, chance: random.Random) -> None:
        """Replace an argument or something in it, leave the last out or add one."""
        if chance.random() < 0.1:
            self.given = chance.choice([self.given[:-1], [*self.given, None]])
            self.replaced.append(f"{len(self.given)} arguments")
        elif self.given:
            path, made = _replaced(chance, self.given, self.given)
            self.replaced.append(f"{path}: {_short(made)}")

    def must_raise(self) -> bool:
        """Whether there are wrong types, or too few or many arguments."""
        # A title's words are asked for as long as there are blocks, a box's hint by nobody.
        most = 6 if self.name == "main_blocks" else len(self.sound)
        wrong = any(map(_is_wrong, self.sound[:most], self.given))
        return wrong or len(self.given) != len(self.sound)

    def fault(self, of: Any, must_raise: bool) -> str | None:
        """What is wrong with how the function of this module ends."""
        try:
            answer = getattr(of, self.name)(*self.given)
        except SystemError as error:
            return f"{self} raised {error!r}"
        except Exception:  # what a wrong call may end with
            return None
        return f"{self} gave {_short(answer)}" if must_raise else None

    def __str__(self) -> str:
        return f"{self.name} with {', '.join(self.replaced)}"


def _replaced(chance: random.Random, rows: list[Any], beside: list[Any]) -> tuple[str, Any]:
    """Replaces something in the rows; where it is, and what is there now."""
    at = chance.randrange(len(rows))
    if type(rows[at]) in (list, tuple) and len(rows[at]) and chance.random() < 0.6:
        inner = list(rows[at])
        path, made = _replaced(chance, inner, beside)
        if type(rows[at]) is list:
            rows[at][:] = inner
        else:
            rows[at] = tuple(inner)
        return f"{at}.{path}", made
    rows[at] = _hostile(chance, rows[at], beside)
    return str(at), rows[at]


def _short(value: Any) -> str:
    name = type(value).__name__
    return f"{name} {value!r:.60}" if name in ("int", "float", "str") else name


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value)
    return type(value)(map(_copied, value)) if type(value) in (list, tuple) else value


def _calls(chance: random.Random, sound: Sound) -> Iterator[_Call]:
    """Those of a batch: half of them begin with the kernel's tables, and few have a dictionary."""
    for name in _SETUPS:
        if chance.random() < (0.1 if name == "load_dictionary" else 0.6):
            yield _Call(name, sound[name][0])
    names = [name for name in sound if name != "load_dictionary"]
    for _ in range(BATCH):
        name = chance.choice(names) if chance.random() < 0.98 else "load_dictionary"
        call = _Call(name, chance.choice(sound[name]))
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            call.spoil(chance)
        yield call


def _run(kernel: Any, sound: Sound, seed: str, told: Callable[[str], object]) -> str | None:
    """The first fault of a batch; each call is told before it is made."""
    chance, has_markup = random.Random(seed), False
    for call in _calls(chance, sound):
        told(str(call))
        is_wrong = call.must_raise()
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECS)
        # Tables of markup are taken once: a second call does nothing.
        if fault := call.fault(kernel, is_wrong and not (call.name == "set_markup" and has_markup)):
            return fault
        has_markup |= call.name == "set_markup" and not is_wrong
    return None


def _work(kernel: Any, sound: Sound, seed: str, sending: Connection) -> None:
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)  # ends the process
    fault = _run(kernel, sound, seed, sending.send)
    if fault is None and random.Random(seed).random() < _MEASURED:
        tracemalloc.start()
        held = []
        for _ in range(3):
            _run(kernel, sound, seed, len)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        if held[2] - held[1] > _LEFT_BYTES:
            fault = f"the batch left {held[2] - held[1]:,} bytes behind"
    sending.send((fault,))


def wrong_call(kernel: Any, sound: Sound, seed: str) -> str | None:
    """What is wrong with a batch of calls, which is the same for its seed."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(kernel, sound, seed, sending))
    process.start()
    sending.close()
    told: Any = "the first call"
    try:
        while isinstance(told, str):
            told = receiving.recv()
    except EOFError:
        process.join()
        return f"seed {seed!r}: ended with {process.exitcode} at {told}"
    process.join()
    return None if told[0] is None else f"seed {seed!r}: {told[0]}"


def main() -> int:
    """Of the kernel as it is built; tests/long/native.py has it built with sanitizers."""
    parser = parser_of(__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    built: Any = native.kernel
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(built.__file__, folder)  # a module without tables
        kernel, sound = load_kernel(Path(path)), sound_calls()
        seeds = (f"{args.seed} {first}" for first in range(0, args.calls, BATCH))
        faults = [fault for seed in seeds if (fault := wrong_call(kernel, sound, seed))]
    print(*faults, f"{args.calls:,} wrong calls: {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
