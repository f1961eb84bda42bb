import random
from collections import Counter

from simhash_pipeline.report.top_counts import TopCounts


def counted(keys: list[str], cap: int) -> TopCounts:
    heaviest = TopCounts(cap)
    for key in keys:
        heaviest.tally(key).drops += 1
    return heaviest


def test_counts_are_exact_up_to_the_cap() -> None:
    heaviest = counted(list("abcabca"), cap=3)
    assert [(key, tally.drops) for key, tally in heaviest.top(2)] == [("a", 3), ("b", 2)]
    assert (len(heaviest), heaviest.lacking) == (3, 0)


def test_past_the_cap_memory_is_bounded_and_no_count_lacks_more_than_it_says() -> None:
    draw = random.Random(7)
    keys = [str(int(10_000 * draw.random() ** 6)) for _ in range(50_000)]
    heaviest, true = counted(keys, cap=500), Counter(keys)
    assert len(true) > 1_000
    assert len(heaviest) <= 500
    assert heaviest.lacking > 0
    for key, tally in heaviest.top(500):
        assert true[key] - heaviest.lacking <= tally.drops <= true[key]
    assert [key for key, _ in heaviest.top(5)] == [key for key, _ in true.most_common(5)]
