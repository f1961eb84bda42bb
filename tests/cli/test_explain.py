"""`scrapy simhash explain` and the texts that it is told by, after real crawls."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simhash_pipeline import open_store
from tests.cli.simhash_command import Simhash
from tests.crawl.crawling import OTHER, STORY, ItemSpider, crawl, html, page
from tests.forked import scrapy_forked
from tests.review.logs import drop, near_miss, write_log

ITEMS = [
    page(1),
    page(2, STORY.replace("word100", "tale")),
    page(3, OTHER),
    page(4, "Closed today."),
    page(5, "Closed today."),
]
MENU = "<nav><ul>" + "".join(f"<li><a href=/{n}>Hall {n}</a>" for n in range(9)) + "</ul></nav>"
STORE = ".scrapy/simhash/items.sqlite"


class LaterSpider(ItemSpider):
    name = "later"


def crawled(directory: Path, **settings: Any) -> Path:
    crawl(directory, ITEMS, **settings)
    return directory


@pytest.fixture(scope="module")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled(tmp_path_factory.mktemp("crawled"), SIMHASH_KEEP_TEXT=True)


@pytest.fixture
def texts(tmp_path: Path, crawled_once: Path) -> Path:
    """Where a crawl that keeps texts has run."""
    return shutil.copytree(crawled_once, tmp_path, dirs_exist_ok=True)


def test_titles_and_texts_of_kept_and_dropped_pages_are_kept(texts: Path) -> None:
    with open_store(f"sqlite:///{texts}/{STORE}") as store:
        kept = {text.url.rpartition("/")[2]: text for text in store.texts()}
    assert sorted(kept) == ["1", "2", "3", "4", "5"]
    assert "tale" in kept["2"].text
    assert kept["2"].title == "A page"


def test_a_crawl_keeps_no_texts_unless_it_is_told_to(tmp_path: Path) -> None:
    crawled(tmp_path)
    with open_store(f"sqlite:///{tmp_path}/{STORE}") as store:
        assert list(store.texts()) == []


def test_the_text_of_a_page_whose_item_is_lost_is_not_kept(tmp_path: Path) -> None:
    crawl(tmp_path, [page(1, outcome="drop"), page(2, OTHER)], SIMHASH_KEEP_TEXT=True)
    with open_store(f"sqlite:///{tmp_path}/{STORE}") as store:
        assert [text.url for text in store.texts()] == ["http://a.example/2"]


def test_a_drop_is_explained_by_bits_and_words(simhash: Simhash, texts: Path) -> None:
    result = simhash(texts, "explain", "http://a.example/2#part")
    assert (result.returncode, result.stderr) == (0, "")
    told = result.stdout
    assert "by items: main text near that of a kept page." in told
    assert (
        "A  kept     http://a.example/1\n            A page\n"
        "B  dropped  http://a.example/2\n            A page\n"
        "   store    .scrapy/simhash/items.sqlite\n"
    ) in told
    assert "[-word100-]" in told
    assert "{+tale+}" in told
    assert "fetch" not in told


def test_scraped_fields_that_differ_and_did_not_count_are_named(
    simhash: Simhash, tmp_path: Path
) -> None:
    """Between sites; with the way to let them count."""
    places = {"http://a.example/1": "Hull", "http://b.example/2": "Rhyl"}
    items = [
        {"url": url, "html": html(f"{STORY} {place}"), "place": place, "kind": "Post"}
        for url, place in places.items()
    ]
    crawl(tmp_path, items)
    said = simhash(tmp_path, "explain", "http://b.example/2").stdout
    how = 'SIMHASH_ITEM_FIELDS = ("+place",) lets one count.'
    assert f"\nFields that differ and didn't count: place. {how}\n" in said


def test_a_kept_page_is_explained_while_the_log_is_rotated(
    simhash: Simhash, tmp_path: Path
) -> None:
    log = tmp_path / "drops.jsonl"
    crawled(tmp_path, SIMHASH_DROP_LOG=str(log))
    log.rename(tmp_path / "drops.jsonl.1")
    set_to = ("-s", f"SIMHASH_DROP_LOG={log}")
    assert simhash(tmp_path, "explain", "http://a.example/1", *set_to).stdout.startswith("Kept ")
    missing = simhash(tmp_path, "explain", "http://a.example/1", "--log", "drops.jsonl")
    assert (missing.returncode, "No such file" in missing.stderr) == (2, True)


def test_the_sentences_that_keep_a_page_are_shown(simhash: Simhash, tmp_path: Path) -> None:
    """Of a page beside its print view, which lacks one."""
    story = [
        f"The rope of hall {n} is as long as {n + 20} ships and {n + 30} barges." for n in range(9)
    ]
    late = "The museum closed an hour after this report, said its director."
    items = []
    for number, (path, box) in enumerate((("print/1", "<h1>Rope</h1>%s"), ("1", f"{MENU}%s"))):
        text = [*story, *[late] * number]
        body = box % "".join(f"<p>{each}</p>" for each in text)
        url = f"http://a.example/{path}"
        items.append({"url": url, "html": f"<title>Rope</title>{body}", "text": "\n".join(text)})
    crawl(tmp_path, items, SIMHASH_KEEP_TEXT=True)
    said = simhash(tmp_path, "explain", "http://a.example/1").stdout
    assert f"\nSentences that B's item says, and A's doesn't\n  {late}\n" in said


def test_the_fingerprints_of_both_are_shown_with_their_distance(
    simhash: Simhash, texts: Path
) -> None:
    said = simhash(texts, "explain", "http://a.example/2").stdout
    row = re.search(r"\ncontent +([0-9a-f]{16}) +([0-9a-f]{16}) +(\d+) of 64 bits +3\n", said)
    assert row is not None
    assert (int(row[1], 16) ^ int(row[2], 16)).bit_count() == int(row[3])


def test_without_texts_it_says_so_and_how_to_have_them(simhash: Simhash, tmp_path: Path) -> None:
    result = simhash(crawled(tmp_path), "explain", "http://a.example/2")
    assert result.returncode == 0
    assert (
        "The texts of the pages were not kept. To compare them, without their items:"
        in result.stdout
    )
    assert "scrapy simhash compare http://a.example/1 http://a.example/2\n" in result.stdout
    keep = "from the next run on  SIMHASH_KEEP_TEXT = True (for `dedup` also --store)\n"
    assert keep in result.stdout


def test_the_log_alone_explains_what_it_knows(simhash: Simhash, texts: Path) -> None:
    (texts / STORE).unlink()
    result = simhash(texts, "explain", "http://a.example/2")
    assert (result.returncode, result.stderr) == (0, "")
    assert "were not kept" in result.stdout


def test_a_named_log_is_explained_without_the_stores_of_the_project(
    simhash: Simhash, texts: Path
) -> None:
    """Those of its own spider apart: `dedup` and `judge` write logs of no spider."""
    log = write_log(texts / "kept.parquet.drops.jsonl", [drop(url="http://a.example/1")])
    (texts / "kept.parquet").touch()
    (texts / "page.html").write_text(html(STORY))
    of_log = simhash(texts, "explain", "http://a.example/1", "--log", log.name)
    assert of_log.stdout.startswith("Dropped 2026-05-04 12:00 UTC")
    for url, said in {
        "http://a.example/3": ".drops.jsonl (logs don't name kept pages); --spider, --log",
        "page.html": "page.html is not known in kept.parquet.drops.jsonl (logs",
        "a.example/3": "a.example/3 is not a URL, as https://example.org/story, and not a file",
    }.items():
        unknown = simhash(texts, "explain", url, "kept.parquet")
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert said in unknown.stderr


def test_by_structure_a_kept_page_is_explained_by_its_structure(
    simhash_in_project: Simhash, tmp_path: Path
) -> None:
    boxes = "<section><h2>A</h2><ul><li>b</ul></section><table><tr><td>c</table><dl><dt>d<dd>e</dl>"
    markup = f"<header><h1>A</h1></header><main><p>{STORY}</p>{boxes}</main><footer>f</footer>"
    pages = [{"url": "http://a.example/1", "html": markup}]
    pages += [{"url": "http://a.example/9", "html": f"<p>{STORY}"}]
    crawl(tmp_path, pages, SIMHASH_MATCH="structure")
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine\n")
    (tmp_path / "mine.py").write_text("SIMHASH_MATCH = 'structure'\n")
    for number, why in (
        (1, "no other stored page is within 8 bits of its structure."),
        (9, "it has too few elements for a structure."),
    ):
        told = simhash_in_project(tmp_path, "explain", f"http://a.example/{number}").stdout
        assert why in told.splitlines()[0]


def test_a_thin_drop_is_explained_by_its_title_and_text(simhash: Simhash, texts: Path) -> None:
    result = simhash(texts, "explain", "http://a.example/5")
    assert result.returncode == 0
    assert "little text, and the title and text of a kept page" in result.stdout
    assert "Changes of words in the main text (as it was judged): 0\n" in result.stdout


def test_a_kept_page_is_explained_by_the_nearest_other(simhash: Simhash, tmp_path: Path) -> None:
    crawled(tmp_path, SIMHASH_KEEP_TEXT=True, SIMHASH_SKETCH_DISTANCE=0)
    strict = ("http://a.example/2", "-s", "SIMHASH_SKETCH_DISTANCE=0")
    words = simhash(tmp_path, "explain", *strict).stdout
    assert words.startswith("Kept ")
    assert "A  kept   http://a.example/1\n" in words
    assert "near a stored page: sketches differ: 9 of at most 0 bits." in words
    result = simhash(tmp_path, "explain", "http://a.example/3")
    assert "no other stored page is within 8 bits of its content." in result.stdout
    (tmp_path / ".scrapy/simhash/items.drops.jsonl").unlink()
    alone = simhash(tmp_path, "explain", *strict, "-S", STORE).stdout
    assert "A is near, but sketches differ: 9 of at most 0 bits." in alone


def test_a_page_kept_by_an_answer_of_one_crawl_is_explained_by_it(
    simhash: Simhash, tmp_path: Path
) -> None:
    """SIMHASH_ANSWERS was given by -s, so that `explain` doesn't know of it."""
    sheet = tmp_path / "answers.csv"
    sheet.write_text("answer,twin_url,url\nn,http://a.example/1,http://a.example/2\n")
    crawl(tmp_path, [page(1), page(2)], SIMHASH_ANSWERS=str(sheet))
    said = simhash(tmp_path, "explain", "http://a.example/2").stdout
    assert "though near a stored page: a person called it another page." in said


def test_what_of_a_known_page_has_changed_is_named(simhash: Simhash, tmp_path: Path) -> None:
    for price in (7, 8):
        crawl(tmp_path, [page(1, f"{STORY} {price} EUR", price=f"{price} EUR")])
    first, kept = simhash(tmp_path, "explain", "http://a.example/1").stdout.splitlines()[:2]
    assert first.startswith("Changed 20")
    assert first.endswith(" UTC by items: price.")
    assert kept.startswith("Kept ")
    listed = simhash(tmp_path, "dropped", "--kept", "--list").stdout
    assert listed == "http://a.example/1    changed: price\n"
    assert simhash(tmp_path, "dropped", "--kept", "--csv").stdout.count("\n") == 1  # its head


def test_the_items_values_that_differ_are_shown(simhash: Simhash, tmp_path: Path) -> None:
    for keeps in (True, False):
        (folder := tmp_path / str(keeps)).mkdir()
        sizes = ((1, "41", "red"), (2, "42", "red"))
        pages = [page(n, f"{STORY} {size}", size=size, colour=red) for n, size, red in sizes]
        crawl(folder, pages, SIMHASH_KEEP_TEXT=keeps)
        said = simhash(folder, "explain", "http://a.example/2").stdout
        assert "though near a stored page: fields of the items differ: size." in said
        table = "Values of their items that differ\n        A   B\n  size  41  42\n"
        assert (table in said) is keeps


def test_a_page_kept_after_its_drop_is_told_as_kept(simhash: Simhash, texts: Path) -> None:
    early = drop(url="http://a.example/3", time="2001-05-04T12:00:00.000Z")
    log = write_log(texts / "early.jsonl", [early])
    told = simhash(texts, "explain", "http://a.example/3", "--log", log.name, "-S", STORE)
    before = "Earlier, 2001-05-04 12:00 UTC, news dropped it.\nKept "
    assert told.stdout.startswith(before)


def test_a_page_is_found_whichever_spider_crawled_last(simhash: Simhash, texts: Path) -> None:
    crawl(texts, [page(9, OTHER)], spider=LaterSpider)
    result = simhash(texts, "explain", "http://a.example/2")
    assert (result.returncode, result.stderr) == (0, "")
    assert "by items" in result.stdout
    assert simhash(texts, "explain", "http://a.example/9").stdout.startswith("Kept ")
    nowhere = simhash(texts, "explain", "http://a.example/none")
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    folder = ".scrapy/simhash"
    assert nowhere.stderr == (
        f"http://a.example/none is not known in {folder}/items.drops.jsonl, "
        f"{folder}/later.drops.jsonl, {folder}/items.sqlite, {folder}/later.sqlite; "
        "--spider, --log and --store name others\n"
    )


def test_the_store_that_a_spider_names_is_found_by_its_log(tmp_path: Path) -> None:
    """Another lies where crawls leave theirs."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = own\n")
    (tmp_path / "own.py").write_text(
        'SPIDER_MODULES = ["own"]\nADDONS = {"simhash_pipeline.Addon": 500}\n'
        "from tests.crawl.crawling import OTHER, ItemSpider, page\n"
        "class First(ItemSpider):\n    name, items = 'first', [page(1)]\n"
        "class Shop(ItemSpider):\n    name, items = 'shop', [page(2, OTHER)]\n"
        "    custom_settings = {'SIMHASH_STORE': 'shop.sqlite'}\n"
        "class Down(ItemSpider):\n    name = 'down'\n"
        "    custom_settings = {'SIMHASH_STORE': 'redis://127.0.0.1:1/0'}\n"
    )
    for spider in ("first", "shop"):
        scrapy_forked(tmp_path, "crawl", spider)
    log = tmp_path / ".scrapy/simhash/down.drops.jsonl"  # its spider's server is
    log.write_bytes((tmp_path / ".scrapy/simhash/first.drops.jsonl").read_bytes())
    said = scrapy_forked(tmp_path, "simhash", "explain", "http://a.example/2").stdout
    assert "\nB  kept   http://a.example/2\n          A page\n   store  shop.sqlite\n" in said


def test_the_title_of_a_twin_is_known_on_the_second_day(simhash: Simhash, tmp_path: Path) -> None:
    alone: dict[str, Any] = {"SIMHASH_SECOND_LOOK": False}  # else the titles keep them apart
    crawl(tmp_path, [page(1)], **alone)
    other = page(2)
    other["html"] = other["html"].replace("A page", "Quite another headline")
    crawl(tmp_path, [page(1), other], SIMHASH_UNCHANGED="drop", **alone)
    lines = (tmp_path / ".scrapy/simhash/items.drops.jsonl").read_text().splitlines()
    drops = [record for record in map(json.loads, lines) if "twin_title" in record]
    assert [record["twin_title"] for record in drops] == ["A page"]
    assert "titles differ" in simhash(tmp_path, "dropped").stdout


def test_a_report_has_the_texts_of_the_store(simhash: Simhash, texts: Path) -> None:
    with_texts = simhash(texts, "report", "-o", "with.html")
    assert with_texts.returncode == 0
    (texts / STORE).rename(texts / "moved.sqlite")
    assert simhash(texts, "report", "-o", "without.html").returncode == 0
    moved = simhash(texts, "report", "-o", "moved.html", "--store", "moved.sqlite")
    assert moved.returncode == 0
    pages = [(texts / f"{name}.html").read_text() for name in ("with", "without", "moved")]
    assert ['"compared":[]' in page for page in pages] == [False, True, False]


def test_a_report_has_the_texts_of_the_drops_own_namespaces(
    simhash: Simhash, tmp_path: Path
) -> None:
    for namespace in ("one", "two"):
        crawled(tmp_path, SIMHASH_KEEP_TEXT=True, SIMHASH_NAMESPACE=namespace)
    assert simhash(tmp_path, "report", "-o", "report.html").returncode == 0
    told = (tmp_path / "report.html").read_text()
    compared = re.search(r'"compared":(\[.*?\])', told)
    assert compared is not None
    assert len(json.loads(compared[1])) == 4  # two drops of each crawl


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://[::1/"], "'http://[::1/' is not a URL"),
        (["http://a.example/2", "--log", "none"], "none can't be read: No such file"),
        (["http://a.example/2", "--spider", "x"], "there is no drop log of a spider 'x'"),
        (["http://a.example/2", "-S", "no.sqlite"], "there is no store at no.sqlite"),
        (["http://a.example/2", "-S", "words.txt"], "words.txt: it is not an SQLite database"),
        (["http://a.example/2", "-S", "redis://127.0.0.1:1"], "connecting to 127.0.0.1:1"),
        (["http://a.example/2", "--log", "words.txt"], "line 1 is not a line of a drop log"),
        (["http://a.example/2", "--log", "mixed"], "schema 1: Invalid enum value 2"),
        (["http://a.example/2", "--log", "odd"], "the log has 'zz' for a fingerprint"),
        ([], "the following arguments are required: url"),
    ],
)
def test_wrong_use_gets_one_line_and_exit_code_2(
    simhash: Simhash, texts: Path, arguments: list[str], message: str
) -> None:
    (texts / "words.txt").write_text("some words, not a log and not a store\n")
    write_log(texts / "mixed", [drop(), drop(schema=2)])
    write_log(texts / "odd", [drop(content="zz")])
    result = simhash(texts, "explain", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[-1]


def test_a_url_that_no_store_knows_gets_one_line(simhash: Simhash, tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'seen.sqlite'}").close()
    result = simhash(tmp_path, "explain", "http://a.example/2", "-S", "seen.sqlite")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "http://a.example/2 is not known in seen.sqlite; --spider, --log and --store name others\n"
    )


def test_a_store_of_other_options_is_read_as_well(simhash: Simhash, tmp_path: Path) -> None:
    crawled(tmp_path)
    for url, said in {"http://a.example/2": "Dropped 20", "http://a.example/3": "Kept 20"}.items():
        result = simhash(tmp_path, "explain", url, "-S", STORE, "-s", "SIMHASH_TOP_N=5")
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith(said)


def test_what_a_truncated_log_still_says_is_explained(simhash: Simhash, texts: Path) -> None:
    log = texts / ".scrapy/simhash/items.drops.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    result = simhash(texts, "explain", "http://a.example/2")
    assert "main text near that of a kept page." in result.stdout
    assert (result.returncode, result.stderr) == (0, "")


def test_nothing_that_a_page_says_steers_the_terminal(simhash: Simhash, tmp_path: Path) -> None:
    items = [page(1, STORY + " \u202ered"), page(2, STORY + " \x9bblue")]
    crawl(tmp_path, items, SIMHASH_KEEP_TEXT=True)
    told = simhash(tmp_path, "explain", "http://a.example/2").stdout
    assert "blue" in told
    assert all(character.isprintable() or character == "\n" for character in told)


@pytest.mark.parametrize(
    ("reason", "content", "sketch"),
    [
        ("address", (9, "not used"), (40, "not used")),
        ("item", (9, "not used"), (40, "not used")),
        ("sketch", (9, "not used"), (15, "18")),
        ("answer", (2, "not used"), (15, "not used")),
        ("content", (2, "3"), (40, "not used")),
        (None, (2, "3"), (40, "18")),
        (None, (9, "not used"), (15, "18")),
    ],
)
def test_limits_that_did_not_decide_are_marked(
    simhash: Simhash,
    tmp_path: Path,
    reason: str | None,
    content: tuple[int, str],
    sketch: tuple[int, str],
) -> None:
    """None: of a near miss."""
    apart = {"content_distance": content[0], "sketch_distance": sketch[0]}
    line = drop(reason=reason, **apart) if reason else near_miss(**apart)
    write_log(tmp_path / "log", [line])
    said = simhash(tmp_path, "explain", line.url, "log").stdout
    assert re.search(rf"^content .* {content[0]} of 64 bits +{content[1]}$", said, re.MULTILINE)
    assert re.search(rf"^sketch +{sketch[0]} of 128 bits +{sketch[1]}$", said, re.MULTILINE)


def test_a_drop_of_another_namespace_is_told_of_only_where_there_is_none(
    simhash: Simhash, tmp_path: Path
) -> None:
    url = "http://a.example/2"
    drops = [drop(url=url, reason="thin"), drop(url=url, namespace="trial")]
    write_log(tmp_path / "log", drops)
    arguments = ("explain", url, "--log", "log")
    assert "little text, and" in simhash(tmp_path, *arguments).stdout
    of_trial = (*arguments, "-s", "SIMHASH_NAMESPACE=trial")
    assert "main text near that of a kept page" in simhash(tmp_path, *of_trial).stdout
    write_log(tmp_path / "log", [drop(url=url, namespace="other")])
    assert "main text near that of a kept page" in simhash(tmp_path, *arguments).stdout


def test_a_kept_page_that_has_changed_since_the_drop_is_told_of(
    simhash: Simhash, tmp_path: Path
) -> None:
    said = "A has changed since: what is shown of it is how it is now.\n"
    crawl(tmp_path, [page(1), page(2)])
    assert said not in simhash(tmp_path, "explain", "http://a.example/2").stdout
    with open_store(f"sqlite:///{tmp_path}/.scrapy/simhash/items.sqlite") as store:
        store.insert_many([replace(one, first_seen=one.first_seen + 9) for one in store.pages()])
    assert said in simhash(tmp_path, "explain", "http://a.example/2").stdout


def test_a_kept_page_without_a_line_names_the_fields_that_differ(
    simhash: Simhash, tmp_path: Path
) -> None:
    items = [{**page(n), "html": html(f"{STORY} {n}7 EUR"), "price": f"{n}7 EUR"} for n in (0, 1)]
    crawl(tmp_path, items, SIMHASH_KEEP_TEXT=True, SIMHASH_DROP_LOG=None)
    store = ".scrapy/simhash/items.sqlite"
    said = simhash(tmp_path, "explain", "http://a.example/1", "-S", store).stdout
    assert "fields of the items differ: price." in said
    assert "  price  07 EUR  17 EUR\n" in said


def test_a_kept_page_that_is_a_copy_by_now_is_explained_by_it_and_not_by_a_nearer_one(
    simhash: Simhash, tmp_path: Path
) -> None:
    items = [{**page(n), "html": html(f"{STORY} {n}7 EUR"), "price": f"{n}7 EUR"} for n in (0, 1)]
    crawl(tmp_path, items, SIMHASH_DROP_LOG=None)
    store = ".scrapy/simhash/items.sqlite"
    with open_store(f"sqlite:///{tmp_path / store}") as opened:
        nearer, copy = sorted(opened.pages(), key=lambda one: one.url)
        third = replace(nearer, url="http://a.example/2", item_values=copy.item_values)
        opened.insert_many([third])
    said = simhash(tmp_path, "explain", third.url, "-S", store).stdout
    assert "A  kept   http://a.example/1\n" in said


def test_a_near_miss_is_explained_by_its_line_where_no_store_holds_the_page(
    simhash: Simhash, tmp_path: Path
) -> None:
    near = near_miss(spider="items", reason="sketch", sketch_distance=20)
    write_log(tmp_path / "log", [near_miss(spider="items"), near])
    explain = ("explain", "http://a.example/2", "--log", "log")
    assert (
        "Kept 2026-05-04 12:00 UTC by items, though near a stored page: sketches differ: 20 "
        "of at most 18 bits.\n"
    ) in simhash(tmp_path, *explain).stdout


def test_a_directory_is_no_drop_log(simhash: Simhash, tmp_path: Path) -> None:
    result = simhash(tmp_path, "explain", "http://a.example/2", "--log", ".")
    assert (result.returncode, result.stdout) == (2, "")
    assert "the drop log . can't be read: Is a directory" in result.stderr
    assert result.stderr.count("\n") == 1


ASIDE = "".join(f"<li>{word} beside</li>" for word in OTHER.split())
FRAME = (
    "<title>A</title><body><header><h1>A</h1></header><nav><ul><li><a href=/>x</a></ul></nav><main>"
    "<article><section><p>{}</p></section></article></main><aside><ul><li>y</ul></aside>{}"
    "<footer><p>z</p></footer>"
)
THIN = "<title>Shut</title><body><main><p>Closed today.</main><footer>{}</footer>"


@pytest.mark.parametrize(
    ("pages", "settings", "rule"),
    [
        (
            [html(STORY), html(STORY.replace("word100", "tale"))],
            {"SKETCH_DISTANCE": 0},
            "though near a stored page: sketches differ: 9 of at most 0 bits.\n",
        ),
        (
            [html(STORY), html(STORY.replace("word199", "tale"))],
            {"CONTENT_DISTANCE": 0, "SKETCH_DISTANCE": 0},
            "the contents differ in 1 bit, and twins are within 0. Other twins declare one",
        ),
        (
            [f"{html(STORY)}<ul><li>one</ul>", f"{html(STORY)}<aside><ul>{ASIDE}</ul></aside>"],
            {},
            "page-specific texts differ: alike by 59% of at least 85%.\n",
        ),
        (
            [THIN.format(STORY), THIN.format(OTHER)],
            {},
            "page-specific texts differ: hardly any can be compared.\n",
        ),
        (
            [f"<title>Bell {n}</title><h1>Bell {n}</h1><p>{STORY}" for n in (7, 8)],
            {},
            "titles or codes tell them apart.\n",
        ),
        (
            [FRAME.format(STORY, table) for table in ("", "<table><tr><td>1</table>")],
            {"MATCH": "both"},
            "structures differ: 4 of at most 3 bits.\n",
        ),
        (
            [html(STORY), html("Closed today.")],
            {},
            "of fewer than 50 tokens: no other stored page has its title and text.\n",
        ),
    ],
)
def test_a_kept_page_is_explained_by_the_failed_test_its_measure_and_its_limit(
    simhash: Simhash, tmp_path: Path, pages: list[str], settings: dict[str, Any], rule: str
) -> None:
    items = [{**page(n), "html": text} for n, text in enumerate(pages)]
    named = {f"SIMHASH_{name}": value for name, value in settings.items()}
    assert crawl(tmp_path, items, **named).dropped == []
    given = [word for name, value in named.items() for word in ("-s", f"{name}={value}")]
    explain = ("explain", "http://a.example/1", *given)
    assert rule in simhash(tmp_path, *explain).stdout


def test_equal_texts_that_a_template_repeats_are_not_given_as_alike_by_0_percent(
    simhash: Simhash, tmp_path: Path
) -> None:
    titles = [*range(12), 0]
    bodies = (f"<div><p>{STORY}</div><p>own{n} words{n} here{n}" for n in range(13))
    pages = [
        {**page(n), "html": f"<title>Bell {title}</title><h1>Bell {title}</h1>{body}"}
        for n, (title, body) in enumerate(zip(titles, bodies, strict=True))
    ]
    crawl(tmp_path, pages, SIMHASH_KEEP_TEXT=True)
    said = simhash(tmp_path, "explain", "http://a.example/12").stdout
    assert re.search(r"^sketch +0 of 128 bits", said, re.MULTILINE)
    why = "page-specific texts differ: all that they share is repeated text or outside the main"
    assert said.count(why) == 2
    assert "0% the same" not in said
