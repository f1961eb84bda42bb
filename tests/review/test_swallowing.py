import shlex

from simhash_pipeline.cli.drops import summed_up
from simhash_pipeline.drop_log import CAUSES, DropMagnet, DropMagnets
from simhash_pipeline.review.summary import Summary
from tests.review.logs import drop

TWIN = "http://a.example/1"


def counted(urls: list[str], twin_url: str | None = TWIN) -> list[DropMagnet | None]:
    pages = DropMagnets()
    return [pages.add(url, twin_url) for url in urls]


def numbered(host: str, count: int) -> list[str]:
    return [f"http://{host}/copy{n}" for n in range(count)]


def test_the_twentieth_dropped_page_of_a_host_makes_a_page_a_swallowing_one_and_no_later_one() -> (
    None
):
    told = counted(numbered("a.example", 60))
    assert told[19] == DropMagnet(TWIN, "a.example", 20, "http://a.example/copy0")
    assert told[:19] + told[20:] == [None] * 59


def test_a_page_that_was_dropped_again_and_again_counts_once() -> None:
    assert counted(numbered("a.example", 19) * 9) == [None] * 171


def test_hosts_runs_and_twins_are_counted_apart() -> None:
    assert not any(counted(numbered("a.example", 19) + numbered("b.example", 19)))
    pages = DropMagnets()
    for url in numbered("a.example", 30):
        assert pages.add(url, f"{TWIN}{int(url[-1]) % 2}", run=url[-1]) is None
    assert pages.worst() == []


def test_an_unchanged_page_and_one_without_a_twin_are_swallowed_by_none() -> None:
    assert not any(counted(numbered("a.example", 30), twin_url=None))
    pages = DropMagnets()
    assert not any(pages.add(url, url) for url in numbered("a.example", 30))


def test_the_worst_come_first_and_of_several_runs_the_worst_one_counts() -> None:
    pages = DropMagnets()
    for run, count in (("monday", 21), ("tuesday", 25), ("wednesday", 19)):
        for url in numbered("a.example", count):
            pages.add(url, TWIN, run)
    for url in numbered("b.example", 40):
        pages.add(url, TWIN, "monday")
    assert pages.worst() == [
        DropMagnet(TWIN, "b.example", 40, "http://b.example/copy0"),
        DropMagnet(TWIN, "a.example", 25, "http://a.example/copy0"),
    ]


def test_a_swallowing_page_is_found_among_a_hundred_thousand_twins() -> None:
    pages = DropMagnets()
    told = []
    for n in range(100_000):
        pages.add(f"http://a.example/{n}?print", f"http://a.example/{n}")
        if n % 1_000 == 0:
            told.append(pages.add(f"http://a.example/{n}", "http://a.example/notice"))
    assert [page.dropped for page in told if page] == [20]
    assert [page.dropped for page in pages.worst()] == [100]


def test_the_command_to_look_at_a_page_runs_nothing_that_stands_in_its_url() -> None:
    url = "http://a.example/$(reboot)?a=1&b='"
    command = DropMagnet(TWIN, "a.example", 20, url).sentence().split("`")[1]
    assert shlex.split(command) == ["scrapy", "simhash", "explain", url]


def test_drop_magnets_stand_right_below_the_totals_and_are_no_more_than_ten() -> None:
    summary = Summary()
    twins = [
        drop(url=url, twin_url=f"{TWIN}{n}") for n in range(12) for url in numbered("a.example", 20)
    ]
    summary.take(twins)
    lines = list(summed_up("log", summary))
    assert lines[1] == "240 dropped; 12 to check"
    assert lines[3:5] == ["", f"Look at this first. {CAUSES}"]
    assert lines[5] == (
        "  20 pages of a.example were dropped as near-duplicates of http://a.example/10: "
        "look at `scrapy simhash explain http://a.example/copy0`"
    )
    assert lines[15:17] == ["  and 2 more such pages", ""]


def test_a_log_of_dry_runs_alone_says_what_would_be_dropped() -> None:
    summary = Summary()
    summary.take(drop(url=url, dry_run=True) for url in numbered("a.example", 20))
    sentence = list(summed_up("log", summary))[5]
    assert str(sentence).startswith("  20 pages of a.example would be dropped ")
