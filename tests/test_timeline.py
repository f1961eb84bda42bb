import random

from simhash_pipeline.timeline import MAX_SLICES, Timeline


def test_pages_are_counted_by_the_second_at_first() -> None:
    timeline = Timeline()
    for moment, kept in ((100.9, True), (102.0, False), (100.1, True), (99.5, True)):
        timeline.add(moment, kept=kept)
    assert timeline.slice_secs == 1
    assert list(timeline.slices()) == [(99, 1, 0), (100, 2, 0), (102, 0, 1)]


def test_slices_grow_with_the_time_between_the_first_and_the_last_and_count_the_same() -> None:
    timeline, draw = Timeline(), random.Random(3)
    for widest in (10, 1_000, 100_000, 10_000_000, 2_000_000_000):
        for _ in range(1_000):
            timeline.add(draw.randrange(widest), kept=draw.random() < 0.7)
        starts = [start for start, _, _ in timeline.slices()]
        assert all(start % timeline.slice_secs == 0 for start in starts)
        assert (starts[-1] - starts[0]) // timeline.slice_secs < MAX_SLICES
    assert sum(kept + dropped for _, kept, dropped in timeline.slices()) == 5_000
    assert timeline.slice_secs == 364 * 86_400


def test_a_page_at_the_end_of_time_is_counted() -> None:
    timeline = Timeline()
    timeline.add(0, kept=True)
    timeline.add(253_402_300_799, kept=False)  # the last second of the year 9999
    assert len(list(timeline.slices())) == 2
