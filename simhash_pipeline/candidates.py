"""Where a page's twin may be: the stored pages that are worth a second look, each with why.

A bounded number of each kind, however many pages a stranger made alike. What of them is a copy,
twins.py decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from simhash_pipeline.options import Options
from simhash_pipeline.twins import (
    MIN_MAIN_SIMILARITY,
    are_two_subjects,
    contents_agree,
    in_one_template,
    similarity,
    sketches_agree,
)

if TYPE_CHECKING:
    from simhash_pipeline.stores.contract import StoredPage, View
    from simhash_pipeline.verdict import Reason

_ERROR_PAGES = 2  # of one pattern that are kept: two items may be alike by chance
_MAX_SAME_ADDRESS = 8  # pages that are looked at for the address: many may wrongly declare one
_MAX_SAME_TEXT = 8  # pages that are looked at for the item's text
# Copies aren't kept: a paragraph or a minhash that more kept pages have is their site's.
_MAX_SAME_WORDS = 3

Candidate = tuple["StoredPage", "Reason"]  # the reason to drop the page for it


def candidates(page: StoredPage, view: View, options: Options) -> Iterator[Candidate]:
    """Stored pages that may be the page's twin by MATCH, the likeliest first."""
    match = options.match
    if match != "structure":
        yield from _by_content(page, view, options)
    if match in ("structure", "either"):
        for other, _ in view.near("structure", options.structure_distance):
            yield other, "structure"


def _by_content(page: StoredPage, view: View, options: Options) -> Iterator[Candidate]:
    if options.second_look:
        same_text = islice(view.same("item_text"), _MAX_SAME_TEXT)
        yield from ((other, "item") for other in same_text)
        yield from _by_error_pattern(view)
        yield from _by_address(page, view)
        if page.content is None:
            yield from ((other, "thin") for other in view.same("digest"))
    is_both = options.match == "both"
    for other, _ in view.near("content", options.content_distance):
        have_both = is_both and None not in (page.structure, other.structure)
        yield other, "content and structure" if have_both else "content"
    if options.second_look and page.content is not None:
        yield from ((other, "sketch") for other in _by_sketch(page, view, options))


def _by_error_pattern(view: View) -> Iterator[Candidate]:
    """The first two stored pages of its pattern, see page/short_pages.py, or none."""
    others = list(islice(view.same("error_pattern"), _ERROR_PAGES))
    if len(others) == _ERROR_PAGES:
        yield from ((other, "error page") for other in others)


def _by_address(page: StoredPage, view: View) -> Iterator[Candidate]:
    """Pages of the same site and declared address: what stands beside their texts says nothing.

    Their main texts must be alike: many sites declare one address for all pages of a list.
    """
    for other in islice(view.same("address"), _MAX_SAME_ADDRESS):
        alike = similarity(page, other, view.repeated_text, only_main=True) or 0
        if alike >= MIN_MAIN_SIMILARITY and not are_two_subjects(page, other, view.repeated_text):
            yield other, "address"


def _by_sketch(page: StoredPage, view: View, options: Options) -> Iterator[StoredPage]:
    """Pages whose sketches agree and that aren't near in content: of one paragraph or minhash.

    Where one template's byline or caption was read with an article, and another's wasn't, or
    some words were changed, the content fingerprint moves by more bits than the distance. In
    one template of a site such a line or word is the page's own.
    """
    others: dict[str, StoredPage] = {}
    for column in ("digest", "minhash"):
        found = list(islice(view.same(column), _MAX_SAME_WORDS + 1))
        if len(found) <= _MAX_SAME_WORDS:
            others |= {other.url: other for other in found}
    for other in others.values():
        if page.site == other.site and in_one_template(page, other):
            continue
        is_near = contents_agree(page, other, options)
        if not is_near and sketches_agree(page, other, options.sketch_distance):
            yield other
