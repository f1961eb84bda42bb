import pytest

from simhash_pipeline import Options
from simhash_pipeline.compare.rejudged import rejudged
from simhash_pipeline.judge import Distances

URLS = ("http://a.example/1", "http://a.example/2")


@pytest.mark.parametrize(
    ("apart", "options", "verified", "unverified"),
    [
        (Distances(3, 9, 7), Options(), range(3, 9), range(3, 9)),
        (Distances(0, None, None), Options(), range(9), range(9)),
        (Distances(3, 9, 19), Options(), [], range(3, 9)),
        (Distances(3, 9, 19), Options(verify_distance=None), [], range(3, 9)),
        (Distances(3, 9, 19), Options(verify_distance=20), range(3, 9), range(3, 9)),
        (Distances(3, 4, 7), Options(match="both"), [], []),
        (Distances(3, 3, 7), Options(match="both"), range(3, 9), range(3, 9)),
        (Distances(3, 3, 7), Options(match="either"), range(9), range(9)),
        (Distances(None, 5, None), Options(match="structure"), range(5, 9), range(5, 9)),
    ],
)
def test_a_pair_is_dropped_by_the_distances_that_the_judge_would_drop_it_by(
    apart: Distances, options: Options, verified: range, unverified: range
) -> None:
    found = rejudged(URLS, apart, options)
    assert [row.distance for row in found if row.verified] == list(verified)
    assert [row.distance for row in found if row.unverified] == list(unverified)


def test_pages_of_two_sites_are_no_twins_where_the_scope_is_a_site() -> None:
    urls = ("http://a.example/1", "http://b.test/1")
    found = rejudged(urls, Distances(0, 0, 0), Options(scope="site"))
    assert not any(row.verified or row.unverified for row in found)
