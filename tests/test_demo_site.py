"""The demo site's table of right answers holds for the pages it really serves."""

import http.client
import re
import socket
import subprocess
import sys
from contextlib import closing
from html import unescape
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import lxml.html
import pytest

from crawler.demo_site import Answer, DemoSite, read_answers
from crawler.demo_site.article import Article
from crawler.demo_site.page import Page
from crawler.demo_site.pages import all_pages, read_newsroom

MAX_DEPTH = 3
DISALLOWED = "/internal/newsroom-rota"
ODD_CASES = {"large", "picture-as-html", "empty-body", "comment-only", "empty-response"}
CHARSETS = {
    "/zh/kexue/rock-clock": "gb18030",
    "/zh/meishi/zaodian-gbk": "gbk",
    "/zh/shenghuo/hangqing": "gbk",
    "/zh/hant/tea-house": "big5",
    "/zh/hant/clock-repair": "big5",
    "/ja/minato/asaichi": "shift_jis",
}
TOKEN = re.compile(r"[぀-鿿]|[^\W぀-鿿]+")


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return all_pages()


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return {answer.path: answer for answer in read_answers()}


@pytest.fixture(scope="module")
def links(pages: dict[str, Page]) -> dict[str, set[str]]:
    """path -> the paths on the site that it links."""
    found = {}
    for path, page in pages.items():
        hrefs = re.findall(r"<a href=[\"']?([^\"'\s>]+)", page.body.decode("latin-1"))
        found[path] = {unescape(href).partition("#")[0] for href in hrefs if href.startswith("/")}
    return found


def test_every_page_in_the_table_is_reachable_from_the_front_page(
    answers: dict[str, Answer], links: dict[str, set[str]]
) -> None:
    depths = crawl(links)
    assert set(answers) <= set(depths)
    assert max(depths[path] for path in answers) == MAX_DEPTH


def test_every_linked_page_has_a_row(
    answers: dict[str, Answer], links: dict[str, set[str]]
) -> None:
    assert set().union(*links.values()) - set(answers) == {DISALLOWED}


def test_the_table_has_no_path_twice(answers: dict[str, Answer]) -> None:
    assert len(read_answers()) == len(answers) >= 60


def test_links_leave_the_site_for_example_org_alone(pages: dict[str, Page]) -> None:
    text = " ".join(page.body.decode("latin-1") for page in pages.values())
    assert {urlsplit(url).hostname for url in re.findall(r"https?://[^\"'\s<]+", text)} == {
        "example.org"
    }


def test_a_page_to_drop_is_linked_by_its_twin_alone(
    answers: dict[str, Answer], links: dict[str, set[str]]
) -> None:
    drops = [answer for answer in answers.values() if answer.expected == "drop"]
    assert drops
    for drop in drops:
        assert answers[drop.twin].expected == "keep", drop.path
        others = {source for source, targets in links.items() if drop.path in targets}
        assert others == {drop.twin}, drop.path


def test_a_one_of_group_has_at_least_two_pages(answers: dict[str, Answer]) -> None:
    groups = [answer.twin for answer in answers.values() if answer.expected == "one-of"]
    assert groups
    assert all(groups.count(group) >= 2 for group in groups)
    assert all(not answer.twin for answer in answers.values() if answer.expected == "keep")


def test_the_cases_of_a_real_crawl_are_all_there(answers: dict[str, Answer]) -> None:
    both = (
        "same-article-other-path print-view session-id tracking changed-ads changed-nav"
        " changed-timestamps changed-related added-paragraph syndicated template-sibling product"
        " product-list thin-same thin-different section-front forum article broken-markup"
    )
    for case in both.split():
        langs = {lang_of(answer.path) for answer in answers.values() if answer.case == case}
        assert langs >= {"en", "zh"}, case
    once = {*ODD_CASES, "variant", "deep", "archive", "mislabelled"}
    once |= {"gbk", "gb18030", "big5", "shift-jis"}
    assert once <= {answer.case for answer in answers.values()}


def test_articles_are_of_news_length() -> None:
    stories = [a for a in read_newsroom().articles if frame_is_news(a)]
    english = [len(article_tokens(a)) for a in stories if a.lang == "en"]
    chinese = [len(article_tokens(a)) for a in stories if a.lang.startswith("zh")]
    assert len(english) >= 24
    assert len(chinese) >= 16
    assert min(english) >= 220
    assert min(chinese) >= 350


@pytest.mark.parametrize("frame", ["print-view", "syndicated", "session-id", "changed-nav"])
def test_a_copy_says_the_same_words_as_its_story(
    frame: str, pages: dict[str, Page], answers: dict[str, Answer]
) -> None:
    newsroom = read_newsroom()
    copies = [v for v in newsroom.variants if v.case == frame]
    assert copies
    for copy in copies:
        assert answers[copy.path].case == frame
        story = article_tokens(newsroom.article_at(copy.source))
        assert contains(tokens(main_text(copy.path, pages)), story), copy.path
        assert contains(tokens(main_text(copy.source, pages)), story), copy.source


def test_one_syndicated_copy_has_another_headline() -> None:
    newsroom = read_newsroom()
    titles = [v.title for v in newsroom.variants if v.case == "syndicated"]
    assert len(titles) >= 4
    assert len([title for title in titles if title]) == 1


def test_an_update_adds_less_than_eight_percent_of_the_words() -> None:
    newsroom = read_newsroom()
    updated = [v for v in newsroom.variants if v.update]
    assert len(updated) == 2
    for variant in updated:
        words = len(article_tokens(newsroom.article_at(variant.source)))
        assert 0 < len(tokens(variant.update)) < 0.08 * words, variant.path


def test_copies_differ_in_what_their_case_says(pages: dict[str, Page]) -> None:
    ads, plain_ads = (
        set(re.findall(r'class="advert">.*?</aside>', html(path, pages)))
        for path in ("/en/weather/fog-season?region=north", "/en/weather/fog-season")
    )
    assert not ads & plain_ads
    assert "Updated 3 hours ago" in html("/en/city/bridge-bearings?edition=evening", pages)
    assert "Updated 5 minutes ago" in html("/en/city/bridge-bearings", pages)
    assert "Sudoku" in html("/m/en/food/bread-lane", pages)
    assert "Sudoku" not in html("/en/food/bread-lane", pages)
    related, plain_related = (
        set(re.findall(r"<li>.*?</li>", html(path, pages).partition('"box related"')[2]))
        for path in ("/en/culture/brass-band?from=most-read", "/en/culture/brass-band")
    )
    assert len(related - plain_related) >= 3


def test_session_ids_lead_to_pages_of_the_same_session_only(
    answers: dict[str, Answer], links: dict[str, set[str]]
) -> None:
    with_sid = {path for path in answers if "?sid=" in path}
    for path in with_sid:
        onward = {target for target in links[path] if "?sid=" in target}
        assert path.partition("?")[2] in {target.partition("?")[2] for target in onward}
        assert onward <= with_sid
    assert len(with_sid) == 8


def test_keep_pages_share_only_a_small_part_of_their_shingles(
    pages: dict[str, Page], answers: dict[str, Answer]
) -> None:
    seen = set()
    shingles = {}
    for answer in answers.values():
        first_of_group = answer.expected == "one-of" and answer.twin not in seen
        seen.add(answer.twin)
        if answer.case not in {*ODD_CASES, "variant"} and (
            answer.expected == "keep" or first_of_group
        ):
            shingles[answer.path] = five_shingles(tokens(main_text(answer.path, pages)))
    assert len(shingles) > 100
    for (one, left), (other, right) in combinations(shingles.items(), 2):
        assert len(left & right) <= 0.15 * len(left | right), (one, other)


def test_thin_pages_have_under_fifty_words(
    pages: dict[str, Page], answers: dict[str, Answer]
) -> None:
    thin = [path for path, answer in answers.items() if answer.case.startswith("thin")]
    assert len(thin) == 10
    for path in thin:
        article = next(iter(read_article(path)), None)
        words = article_tokens(article) if article else tokens(main_text(path, pages))
        assert 5 < len(words) < 50, path


def test_thin_same_pages_have_the_same_title_and_text(
    pages: dict[str, Page], answers: dict[str, Answer]
) -> None:
    groups: dict[str, set[tuple[str | None, str]]] = {}
    for path, answer in answers.items():
        if answer.case == "thin-same":
            title = lxml.html.fromstring(html(path, pages)).findtext(".//title")
            groups.setdefault(answer.twin, set()).add((title, main_text(path, pages)))
    assert [len(texts) for texts in groups.values()] == [1, 1]


def test_thin_different_pages_all_say_something_else(
    pages: dict[str, Page], answers: dict[str, Answer]
) -> None:
    paths = [path for path, answer in answers.items() if answer.case == "thin-different"]
    assert len({main_text(path, pages) for path in paths}) == len(paths) == 6


@pytest.mark.parametrize(
    ("april", "may"),
    [
        ("/en/business/auction-prices-april", "/en/business/auction-prices-may"),
        ("/zh/shenghuo/pifa-jiage-april", "/zh/shenghuo/pifa-jiage-may"),
    ],
)
def test_price_tables_share_their_words_and_none_of_their_figures(
    april: str, may: str, pages: dict[str, Page]
) -> None:
    tables = [table_cells(path, pages) for path in (april, may)]
    words, figures = zip(*(split_figures(cells) for cells in tables), strict=True)
    assert words[0] == words[1]
    assert all(one != other for one, other in zip(*figures, strict=True))
    assert len(figures[0]) >= 120
    assert len(figures[0]) > 2 * len(words[0])


def test_gbk_page_really_is_gbk(pages: dict[str, Page]) -> None:
    page = pages["/zh/meishi/zaodian-gbk"]
    assert page.content_type == "text/html"
    assert b'<meta charset="gbk">' in page.body
    assert "凌晨三点的豆浆" in page.body.decode("gbk")
    with pytest.raises(UnicodeDecodeError):
        page.body.decode("utf-8")


@pytest.mark.parametrize(
    ("path", "header", "meta", "words"),
    [
        ("/zh/kexue/rock-clock", "text/html; charset=gb18030", None, "𬭚湖"),
        ("/zh/hant/tea-house", "text/html; charset=big5", "big5", "霧頂茶寮"),
        ("/zh/hant/clock-repair", "text/html", "gb2312", "擒縱輪"),
        ("/zh/shenghuo/hangqing", "text/html; charset=utf-8", "utf-8", "梭子蟹等得起"),
        ("/ja/minato/asaichi", "text/html", "shift_jis", "東岸の朝市"),
        ("/en/food/cafe-jetee", "text/html; charset=iso-8859-1", None, "crème brûlée"),
    ],
)
def test_a_page_is_encoded_one_way_and_declared_as_the_table_says(
    path: str, header: str, meta: str | None, words: str, pages: dict[str, Page]
) -> None:
    page = pages[path]
    assert page.content_type == header
    declared = re.search(rb'<meta charset="([^"]+)">', page.body)
    assert (declared[1].decode() if declared else None) == meta
    assert words in page.body.decode(CHARSETS.get(path, "utf-8"))


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("/zh/meishi/zaodian-gbk", "/zh/meishi/breakfast-stall"),
        ("/zh/shenghuo/hangqing", "/zh/shenghuo/seafood-market"),
    ],
)
def test_re_encoded_copies_decode_to_the_words_of_their_original(
    copy: str, original: str, pages: dict[str, Page]
) -> None:
    assert pages[copy].body != pages[original].body
    assert tokens(main_text(copy, pages)) == tokens(main_text(original, pages))


def test_the_large_page_has_five_million_bytes_and_no_line_twice(pages: dict[str, Page]) -> None:
    body = pages["/en/science/tide-log"].body
    lines = re.findall(rb"Tide \d+ .*?\.(?= |<)", body)
    assert len(body) >= 5_000_000
    assert len(lines) == len(set(lines)) > 10_000
    assert len({line.partition(b" stood ")[2] for line in lines}) > 0.9 * len(lines)


def test_the_deep_page_has_its_story_under_a_hundred_thousand_divs(pages: dict[str, Page]) -> None:
    above, _, below = pages["/en/science/deep-borehole"].body.partition(b"The drill bit came up")
    assert above.count(b"<div>") == 100_000
    assert below.count(b"</div>") == 100_000


def test_the_picture_is_sent_as_html(pages: dict[str, Page]) -> None:
    page = pages["/en/berth-plan"]
    assert page.content_type == "text/html; charset=utf-8"
    assert page.body.startswith(b"\x89PNG\r\n")


def test_empty_pages_are_empty_in_three_ways(pages: dict[str, Page]) -> None:
    assert b"<body></body>" in pages["/en/cameras/pier-1"].body
    assert re.search(rb"<body><!--[^>]*--></body>", pages["/en/cameras/pier-2"].body)
    assert pages["/en/cameras/pier-3"].body == b""


def test_broken_pages_are_broken_and_hold_their_story(pages: dict[str, Page]) -> None:
    soup = html("/en/living/allotment-water", pages)
    assert soup.count("<p>") + soup.count("<P ") > soup.count("</p>")
    assert soup.count("</div>") > soup.count("<div")
    assert "shortest water law in the country" in soup
    open_title = html("/zh/shenghuo/smart-bins", pages)
    assert open_title.count("<title>") == 1
    assert "</title>" not in open_title


def test_the_site_answers_over_a_kept_connection_and_says_nothing(
    capfd: pytest.CaptureFixture[str], answers: dict[str, Answer], pages: dict[str, Page]
) -> None:
    with DemoSite(port=0) as site, closing(connect(site)) as connection:
        for path in [*answers, "/static/site.css"]:
            connection.request("GET", path)
            response = connection.getresponse()
            assert response.status == 200, path
            assert response.headers["Content-Type"] == pages[path].content_type
            assert response.read() == pages[path].body
            assert not response.will_close
    assert capfd.readouterr() == ("", "")


def test_the_disallowed_page_is_linked_answered_and_in_no_row(
    answers: dict[str, Answer], links: dict[str, set[str]]
) -> None:
    with DemoSite(port=0) as site, closing(connect(site)) as connection:
        robots = RobotFileParser()
        robots.parse(get(connection, "/robots.txt")[1].decode().splitlines())
        assert not robots.can_fetch("any", site.url + DISALLOWED)
        assert all(robots.can_fetch("any", site.url + path) for path in answers)
        assert get(connection, DISALLOWED)[0] == 200
    assert DISALLOWED in links["/"]


def test_an_unknown_address_is_404_and_an_unknown_parameter_changes_nothing(
    pages: dict[str, Page],
) -> None:
    with DemoSite(port=0) as site, closing(connect(site)) as connection:
        assert get(connection, "/en/port/no-such-ship")[0] == 404
        assert get(connection, "/?utm_source=elsewhere") == (200, pages["/"].body)


def test_the_address_is_gone_after_the_with_block() -> None:
    with DemoSite(port=0) as site:
        port = urlsplit(site.url).port
    with pytest.raises(RuntimeError, match="with block"):
        print(site.url)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port or 0), timeout=5)


def test_a_busy_port_is_one_line_and_exit_code_2() -> None:
    with DemoSite(port=0) as site:
        port = str(urlsplit(site.url).port)
        run = subprocess.run(
            [sys.executable, "-m", "crawler.demo_site", "--port", port],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=Path(__file__).parents[1],
        )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert f"127.0.0.1:{port}" in run.stderr


def crawl(links: dict[str, set[str]]) -> dict[str, int]:
    """path -> links to follow from the English front page."""
    depths, edge = {"/": 0}, ["/"]
    while edge:
        found = {target for path in edge for target in links.get(path, set())} - set(depths)
        depths |= dict.fromkeys(found, depths[edge[0]] + 1)
        edge = sorted(found - {DISALLOWED})
    return depths


def connect(site: DemoSite) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=30)


def get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read()


def lang_of(path: str) -> str:
    return "zh" if "/zh/" in path else "en"


def html(path: str, pages: dict[str, Page]) -> str:
    return pages[path].body.decode(CHARSETS.get(path, "utf-8"))


def main_text(path: str, pages: dict[str, Page]) -> str:
    tree = lxml.html.fromstring(html(path, pages), parser=lxml.html.HTMLParser(huge_tree=True))
    main = tree.find(".//main")
    story = tree.find(".//div[@id='story']") if main is None else main
    texts = map(str, (tree if story is None else story).itertext())
    return " ".join(" ".join(texts).split())


def tokens(text: str) -> list[str]:
    """Words, and single characters of Chinese and Japanese."""
    return TOKEN.findall(text.lower())


def article_tokens(article: Article) -> list[str]:
    blocks = [block for block in article.blocks if block.kind != "comments"]
    return tokens(" ".join([article.lead, *(line for block in blocks for line in block.lines)]))


def read_article(path: str) -> list[Article]:
    return [article for article in read_newsroom().articles if article.path == path]


def frame_is_news(article: Article) -> bool:
    aside = {"stops", "shop", "forum", "docs", "notices"}
    return article.section not in aside and article.slug != "_front" and article.shape != "table"


def five_shingles(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def contains(words: list[str], part: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def table_cells(path: str, pages: dict[str, Page]) -> list[str]:
    return re.findall(r"<t[hd]>(.*?)</t[hd]>", html(path, pages))


def split_figures(cells: list[str]) -> tuple[list[str], list[str]]:
    figures = [cell for cell in cells if re.fullmatch(r"[\d.]+", cell)]
    return [cell for cell in cells if cell not in figures], figures
