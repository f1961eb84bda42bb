"""Processes that judge pages on Redis at once, in orders of their commands that Hypothesis draws.

Each process runs one command when it is its turn, also those that it sends in one message: between
them the network may put anything. A lease may run out at any moment, as of a process held up, and
is renewed some turns later. A message whose replies are lost is sent again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import chain, combinations, count, cycle
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.stores.contract import Action
from simhash_pipeline.stores.redis.layout import run_key
from simhash_pipeline.stores.redis.redis_store import RedisStore
from tests.stores.buckets import faults
from tests.stores.pages import always, near_content, page, seen, unless_near

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simhash_pipeline.stores.contract import StoredPage, View
    from simhash_pipeline.stores.redis.commit import Command
    from tests.stores.servers import RunningCluster, RunningServer

    Decide = Callable[[View], tuple[Action, str | None]]

PROCESSES = 3
MOST_TURNS = 20_000
VALUES = (0, 0b11, 0b1111, 0b11_1111)  # each within 3 bits of the next alone

TURNS = 120


@dataclass(frozen=True)
class Course:
    """In which order the processes take their first turns, and what goes wrong meanwhile."""

    turns: list[int]
    expiries: list[tuple[int, int, int]]  # whose lease runs out, at which turn, and for how many
    losses: set[tuple[int, int]]  # whose message gets no reply, and which of them


numbers = st.integers(0, PROCESSES - 1)
courses = st.builds(
    Course,
    turns=st.lists(numbers, max_size=TURNS),
    expiries=st.lists(st.tuples(numbers, st.integers(0, TURNS), st.integers(1, TURNS)), max_size=2),
    losses=st.sets(st.tuples(numbers, st.integers(0, 40)), max_size=3),
)
shares = st.lists(
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=2),
    min_size=PROCESSES,
    max_size=PROCESSES,
)
# URL, and the content it is kept with, or None where it is forgotten.
changes = st.lists(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([*VALUES, None])), min_size=1, max_size=3
    ),
    min_size=PROCESSES,
    max_size=PROCESSES,
)


@dataclass
class Process:
    """A store of its own that judges its pages, a command at a turn; without content it forgets."""

    store: RedisStore
    pages: Sequence[StoredPage]
    tentative: bool
    lost: set[int]  # numbers of the messages whose replies are lost
    decide: Decide = unless_near
    answers: list[tuple[StoredPage, str | None]] = field(default_factory=list)  # and its twin
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self._messages = count()
        self._go, self._waits = threading.Semaphore(0), threading.Semaphore(0)
        self.done = False
        self.store._begin("")  # which reads all that others left, before anybody takes a turn
        self._run = self.store._server.run
        # A store makes its server itself, so that no other could be given to it.
        self.store._server.run = self._one_by_one  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._judge, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._waits.acquire()

    def take_turn(self) -> None:
        if not self.done:
            self._go.release()
            self._waits.acquire()

    def expire(self) -> None:
        """Let it be taken for dead, though it goes on."""
        assert self.store._server.tried("DEL", run_key(self.store._lease.run))

    def renew(self) -> None:
        self.store._lease.begin()

    def _one_by_one(self, commands: Sequence[Command]) -> list[Any]:
        if threading.current_thread() is not self._thread:
            return self._run(commands)
        while True:
            replies = []
            for command in commands:
                self._waits.release()
                self._go.acquire()
                replies += self._run([command])
            if next(self._messages) not in self.lost:
                return replies

    def _judge(self) -> None:
        try:
            for each in self.pages:
                if each.content is None:
                    self.store.forget("", each.url)
                    continue
                self.answers.append((each, self.store.settle(each, self.decide)))
                if self.tentative:
                    self.store.confirm("", each.url)
            len(self.store)  # which confirms the last one
        except BaseException as error:  # which belongs to the test
            self.error = error
        self.done = True
        self._waits.release()


on_each_server = pytest.mark.parametrize(
    "kind", ["redis 6.2", pytest.param("redis cluster", marks=pytest.mark.ci)]
)


def judged(
    url: str,
    shares: Sequence[Sequence[StoredPage]],
    course: Course,
    *,
    tentative: bool,
    decide: Sequence[Decide] = (unless_near,) * PROCESSES,
) -> list[Process]:
    """The processes after they have taken these turns, and then turns about until the end."""
    processes = [
        Process(
            RedisStore(url, tentative=tentative, lease_secs=1_000),
            share,
            tentative,
            {message for loser, message in course.losses if loser == number},
            decide[number],
        )
        for number, share in enumerate(shares)
    ]
    for process in processes:
        process.start()
    for turn, number in enumerate(chain(course.turns, cycle(range(PROCESSES)))):
        for late, first, most in course.expiries if tentative else ():
            if turn == first:
                processes[late].expire()
            elif turn == first + most:
                processes[late].renew()
        processes[number].take_turn()
        if all(process.done for process in processes):
            break
        assert turn < MOST_TURNS, "they make each other begin again for good"
    for process in processes:
        process.store.close()
        if process.error is not None:
            raise process.error
    return processes


def has_twins(kept: list[StoredPage]) -> bool:
    pairs = combinations([each.content or 0 for each in kept], 2)
    return any(hamming_distance(*pair) <= 3 for pair in pairs)


def pages_of(shares: list[list[int]]) -> list[list[StoredPage]]:
    return [
        [page(f"{number}-{place}", value) for place, value in enumerate(share)]
        for number, share in enumerate(shares)
    ]


@on_each_server
@settings(max_examples=20, deadline=None)
@given(shares=shares, course=courses)
def test_what_is_kept_is_what_one_process_would_keep_in_some_order(
    redis_servers: Callable[[str], RunningServer | RunningCluster],
    kind: str,
    shares: list[list[int]],
    course: Course,
) -> None:
    url = redis_servers(kind).url  # empty
    processes = judged(url, pages_of(shares), course, tentative=False)
    answers = {each.url: twin for process in processes for each, twin in process.answers}
    with RedisStore(url) as store:
        kept = {each.url: each for each in store.pages()}
        assert faults(store) == []
    assert not has_twins(list(kept.values()))
    assert kept.keys() == {name for name, twin in answers.items() if twin is None}
    assert set(answers.values()) - {None} <= kept.keys()


@on_each_server
@settings(max_examples=20, deadline=None)
@given(shares=shares, course=courses)
def test_no_two_twins_are_confirmed(
    redis_servers: Callable[[str], RunningServer | RunningCluster],
    kind: str,
    shares: list[list[int]],
    course: Course,
) -> None:
    url = redis_servers(kind).url  # empty
    processes = judged(url, pages_of(shares), course, tentative=True)
    with RedisStore(url) as store:
        kept = list(store.pages())
        assert faults(store) == []
    assert not has_twins(kept)
    if not course.expiries:
        told = {each.url for process in processes for each, twin in process.answers if not twin}
        assert {each.url for each in kept} == told


@on_each_server
@settings(max_examples=20, deadline=None)
@given(shares=changes, course=courses)
def test_what_is_kept_anew_or_forgotten_meanwhile_leaves_no_twin_and_no_value(
    redis_servers: Callable[[str], RunningServer | RunningCluster],
    kind: str,
    shares: list[list[tuple[str, int | None]]],
    course: Course,
) -> None:
    url = redis_servers(kind).url  # empty
    steps = [[page(name, value) for name, value in share] for share in shares]
    judged(url, steps, course, tentative=False)
    with RedisStore(url) as store:
        kept = list(store.pages())
        assert faults(store) == []
        assert not has_twins(kept)
        for each in kept:
            store.forget("", each.url)
        left = [near_content(store, value) for value in VALUES]
        assert left == [[]] * len(VALUES)


def after_structures(view: View) -> tuple[Action, None]:
    """Keep the page, after its structure was asked for."""
    list(view.near("structure", 3))
    return Action.KEEP, None


def of_one_site(view: View) -> tuple[Action, list[str]]:
    """The near structures of the page's site."""
    view.one_site = True
    return Action.SKIP, [found.url for found, _ in view.near("structure", 3)]


@on_each_server
@settings(max_examples=20, deadline=None)
@given(shares=changes, course=courses)
def test_structures_that_are_first_asked_for_meanwhile_are_all_found_oldest_first(
    redis_servers: Callable[[str], RunningServer | RunningCluster],
    kind: str,
    shares: list[list[tuple[str, int | None]]],
    course: Course,
) -> None:
    url = redis_servers(kind).url  # empty
    steps = [
        [page(f"{name}{number}", value, value, site=f"{number}") for name, value in share]
        for number, share in enumerate(shares)
    ]
    decide = (after_structures, after_structures, always(Action.KEEP))
    judged(url, steps, course, tentative=False, decide=decide)
    with RedisStore(url) as store:
        kept = list(store.pages())
        assert faults(store) == []
        for value in VALUES:
            pairs = [(each.url, hamming_distance(each.structure or 0, value)) for each in kept]
            near = sorted((pair for pair in pairs if pair[1] <= 3), key=itemgetter(1))
            assert seen(store, page("asking", None, value))["structure"] == near
            for site in {each.site for each in kept}:
                asking = page("asking", None, value, site=site)
                assert store.settle(asking, of_one_site) == [
                    url for url, _ in near if url[-1] == site
                ]
