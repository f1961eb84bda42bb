import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from simhash_pipeline.page.blocks import Blocks
from simhash_pipeline.page.boilerplate import running_text
from tests.trees import main_text, parse, title_of

PARAGRAPHS = [
    "The ferry left the east quay at six with forty passengers and a cargo of salt, as always.",
    "Halfway across the sound the fog closed in, and the pilot cut the engine to listen.",
    "Nobody spoke until the sound came, faint and to starboard, three strokes a minute, no more.",
    "By eight the boat lay safe in the lee of the island, and the passengers bought him breakfast.",
    "The harbour office will hold the boats back on such mornings from now on.",
    "A second bell, they add, has been ordered from the foundry and should hang before winter.",
    "The old one dates from the year of the great storm, when eleven boats were lost there.",
    "It was cast from the propellers of the wrecks, and bears the names of all who went down.",
    "Visitors may ring it once a year, on the first Sunday of May, when the wind is off the land.",
    "The rest of the time it is the sea that rings it, and on still nights nobody sleeps well.",
    "Fishermen can tell the tide by it, and that the cod come closer when it stays silent.",
    "None of this is in the almanac, but the almanac was never made by people by the sound.",
]
CHINESE = [
    "清晨六点，渡轮载着四十名乘客和一船海盐驶离东码头，和往常一样准时。",
    "行至海峡中央，浓雾突然合拢，领航员关掉发动机，侧耳倾听鸥石上的钟声。",
    "没有人说话，直到右舷方向传来微弱的声响，每分钟三下，不多也不少。",
    "八点钟，渡轮平安停靠在小岛的背风处，乘客们请领航员吃了一顿早餐。",
    "港务局表示，今后遇到大雾天气，渡轮将推迟发船，并在码头设置休息室。",
    "第二口钟已经向铸造厂订购，预计入冬之前就能挂上，到时候会举行仪式。",
    "旧钟铸于大风暴那一年，当时有十一条渔船在礁石附近沉没，无人生还。",
    "钟身用沉船的螺旋桨熔铸而成，上面刻着每一位遇难者的名字，至今清晰可辨。",
    "游客每年只能敲一次，在五月的第一个星期天，而且要等风从陆地吹来的时候。",
    "其余的日子里，是大海在敲它，无风的夜晚，岛上的人都睡得不太安稳。",
    "渔民们说，他们能从钟声里听出潮水的高低，钟不响的时候鳕鱼会靠近岸边。",
    "这些事情历书上都没有写，不过历书也从来不是住在海峡边上的人编的。",
]
MENU = "".join(f'<li><a href="/{i}">Section number {i}</a></li>' for i in range(12))


def text_of(html: str) -> str:
    return main_text(parse(html))


def article(paragraphs: list[str]) -> str:
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def site(body: str) -> str:
    return (
        "<html><head><title>Fog - The Post</title></head><body>"
        f'<div class="nav"><ul>{MENU}</ul></div><div id="content"><h1>Fog</h1>{body}</div>'
        '<div class="footer"><p>Copyright 2026 The Post. All rights reserved, as ever.</p></div>'
        "</body></html>"
    )


@pytest.mark.parametrize("paragraphs", [PARAGRAPHS, CHINESE], ids=["english", "chinese"])
def test_menu_and_footer_are_left_out_in_any_language(paragraphs: list[str]) -> None:
    assert text_of(site(article(paragraphs))) == "\n".join(paragraphs)


@pytest.mark.parametrize("paragraphs", [PARAGRAPHS, CHINESE], ids=["english", "chinese"])
def test_another_sites_template_gives_the_same_text(paragraphs: list[str]) -> None:
    links = "".join(f'<p><a href="/r{i}">Read about story {i} next</a></p>' for i in range(9))
    other = (
        '<html><head><title>Fog</title></head><body><div class="masthead">The Wire</div><table>'
        f"<tr><td><article>{article(paragraphs)}</article></td><td><aside>{links}</aside></td></tr>"
        "</table>"
        '<div id="cookie-consent"><p>We use cookies, as all do, to know you.</p></div>'
        "</body></html>"
    )
    assert text_of(other) == text_of(site(article(paragraphs)))


@pytest.mark.parametrize(
    ("above", "begin", "is_left_out"),
    [("", "<h1>Fog</h1>", True), ("<h1>Fog</h1>", "", True), ("", "<h2>Fog</h2>", False)],
)
def test_an_aside_of_the_headed_article_is_left_out_however_long_it_is(
    above: str, begin: str, is_left_out: bool
) -> None:
    one, other = f"{begin}{article(PARAGRAPHS[:2])}", article(PARAGRAPHS[2:])
    text = text_of(f"<main>{above}<article>{one}</article><aside>{other}</aside></main>")
    assert (PARAGRAPHS[2] not in text) is is_left_out
    assert (PARAGRAPHS[0] in text) is is_left_out


def test_comments_beside_an_article_are_left_out() -> None:
    comments = "".join(
        f"<p>Comment {i}: I was there, and it was not like that.</p>" for i in range(9)
    )
    body = article(PARAGRAPHS) + f'<div class="comments">{comments}</div>'
    assert text_of(site(body)) == "\n".join(PARAGRAPHS)


def test_a_forum_keeps_every_post() -> None:
    posts = "".join(f'<div class="comment"><p>{p}</p></div>' for p in PARAGRAPHS)
    text = text_of(f"<html><body><ul>{MENU}</ul>{posts}</body></html>")
    assert all(paragraph in text for paragraph in PARAGRAPHS)


def test_a_page_that_calls_itself_a_forum_keeps_its_replies_under_the_first_post() -> None:
    replies = "".join(f'<div class="reply"><p>{p}</p></div>' for p in PARAGRAPHS[6:])
    thread = f'<div class="thread"><h1>Fog</h1><div>{article(PARAGRAPHS[:6])}</div>'
    text = text_of(f"<html><body>{thread}<div class='comments'>{replies}</div></div></body></html>")
    assert text.splitlines() == PARAGRAPHS


def test_a_page_whose_posts_each_call_themselves_a_forums_is_a_forum() -> None:
    first, *replies = (f'<div class="forum-post"><p>{p} {p[::-1]}</p></div>' for p in PARAGRAPHS)
    thread = f'<h1>Fog</h1><article>{first}</article><div class="comments">{"".join(replies)}'
    text = text_of(f"<html><body><ul>{MENU}</ul>{thread}</div></body></html>")
    assert all(paragraph in text for paragraph in PARAGRAPHS)


def test_answers_inside_answers_do_not_hide_the_first_post() -> None:
    nested = "".join(f'<div class="comment">{article(PARAGRAPHS[i : i + 3])}' for i in (3, 6, 9))
    html = f"<html><body><main>{article(PARAGRAPHS[:3])}{nested}</main></body></html>"
    assert text_of(html).splitlines() == PARAGRAPHS


def test_a_forum_keeps_a_post_that_quotes_another() -> None:
    posts = "".join(f"<div><p>{p}</p></div>" for p in [*PARAGRAPHS, PARAGRAPHS[0]])
    text = text_of(f'<html><body><div id="forum">{posts}</div></body></html>')
    assert text.count(PARAGRAPHS[0]) == 2


def test_a_small_box_named_like_a_forum_does_not_make_an_articles_page_one() -> None:
    replies = "".join(f"<p>{i}: I was there, and it was not like that.</p>" for i in range(5))
    body = f'{article(PARAGRAPHS)}<div class="discussion comments">{replies}</div>'
    assert text_of(site(body)) == "\n".join(PARAGRAPHS)


def test_a_table_cell_that_holds_the_article_is_found() -> None:
    teasers = "".join(f"<p>In brief, story {i} of the day, by our staff.</p>" for i in range(9))
    cells = f"<td>{article(PARAGRAPHS)}</td><td>{teasers}</td>"
    text = text_of(f"<html><body><table><tr>{cells}</tr></table></body></html>")
    assert text == "\n".join(PARAGRAPHS)


def test_a_page_of_links_keeps_its_text() -> None:
    text = text_of(f"<html><body><ul>{MENU}</ul></body></html>")
    assert text.splitlines() == [f"Section number {i}" for i in range(12)]


def test_a_list_of_links_in_the_main_box_is_kept_with_its_introduction() -> None:
    links = "".join(
        f"<li><a href='/m{i}'>module{i} does one thing well</a></li>" for i in range(40)
    )
    body = f"<p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p><ul>{links}</ul>"
    text = text_of(site(body))
    assert PARAGRAPHS[0] in text
    assert "module39 does one thing well" in text
    assert "Section number 3" not in text


def test_a_menu_is_no_text_even_where_the_page_has_hardly_any_other() -> None:
    html = (
        f'<html><body><div role="navigation"><ul>{MENU}</ul></div><div><h1>sdst</h1>'
        "<p>Instruction output.</p><p>Size: 8 dwords.</p></div></body></html>"
    )
    assert text_of(html).splitlines() == ["sdst", "Instruction output.", "Size: 8 dwords."]


def test_a_legal_notice_in_the_footer_is_never_the_main_text() -> None:
    notice = " ".join(["This page is licensed under the terms of the foundation, version two."] * 9)
    html = (
        "<html><body><div class='body'><h1>Modules</h1><p>Index of modules</p>"
        f"<p>Search page</p></div><div class='footer'><p>{notice}</p></div></body></html>"
    )
    assert text_of(html).splitlines() == ["Modules", "Index of modules", "Search page"]


def test_a_long_code_sample_does_not_hide_the_prose_around_it() -> None:
    sample = "\n".join(f"value{i} = read(line, {i}); print(value{i});" for i in range(60))
    html = site(f"<p>{PARAGRAPHS[0]}</p><div><pre>{sample}</pre></div>")
    text = text_of(html)
    assert PARAGRAPHS[0] in text
    assert "value59" in text


def test_a_box_with_much_of_the_text_stays_whatever_it_calls_itself() -> None:
    assert text_of(
        f'<html><body><div class="sidebar">{article(PARAGRAPHS)}</div></body></html>'
    ) == "\n".join(PARAGRAPHS)


SECTIONS = [PARAGRAPHS[:9], PARAGRAPHS[9:11], PARAGRAPHS[11:]]


@pytest.mark.parametrize(
    "part",
    [
        "<section class='part-{0}'><h2>Part {0}</h2>{1}</section>",
        "<div class='sect'><h2>Part {0}</h2>{1}</div>",
    ],
    ids=["sections", "divs"],
)
def test_all_parts_of_a_kind_under_headings_of_one_level_are_read(part: str) -> None:
    parts = "".join(part.format(i, article(section)) for i, section in enumerate(SECTIONS))
    text = text_of(site(f"<div>{parts}</div>"))
    assert all(paragraph in text for paragraph in PARAGRAPHS)


@pytest.mark.parametrize("tag", ["section", "div"])
def test_of_two_parts_without_headings_both_are_read(tag: str) -> None:
    more = f"<{tag}>{article(PARAGRAPHS[:8])}</{tag}><{tag}>{article(PARAGRAPHS[8:])}</{tag}>"
    assert text_of(site(f"<div>{more}</div>")).splitlines() == PARAGRAPHS


@pytest.mark.parametrize(
    "part",
    ["<section>{}</section>", "<section><h2>Two</h2>{}</section>", "<div><h3>Two</h3>{}</div>"],
)
def test_a_lead_before_its_section_is_main_text(part: str) -> None:
    body = f"<h1>Fog</h1><p>{PARAGRAPHS[0]}</p>" + part.format(article(PARAGRAPHS[1:]))
    lines = text_of(f"<html><body><div>{body}</div></body></html>").splitlines()
    assert [line for line in lines if line in PARAGRAPHS] == PARAGRAPHS


@pytest.mark.parametrize("line", ["<p>{}</p>", "<ul><li>{}</li></ul>", "<dl><dd>{}</dd></dl>"])
def test_a_short_section_before_the_longest_is_main_text(line: str) -> None:
    short = f"<section><h2>One</h2>{line.format(PARAGRAPHS[0])}</section>"
    long = f"<section><h2>Two</h2>{article(PARAGRAPHS[1:])}</section>"
    text = text_of(f"<html><body><div><h1>Fog</h1>{short}{long}</div></body></html>")
    assert [line for line in text.splitlines() if line in PARAGRAPHS] == PARAGRAPHS


def test_a_teaser_before_the_article_is_no_lead() -> None:
    """Its box begins with no heading, or with the page's."""
    teaser = f"<p>{PARAGRAPHS[0]}</p>"
    for heading in ("", "<h1>Fog</h1>"):
        body = f"{teaser}<div>{heading}{article(PARAGRAPHS[1:])}</div>"
        text = text_of(f"<html><body><div>{body}</div></body></html>")
        assert [line for line in text.splitlines() if line in PARAGRAPHS] == PARAGRAPHS[1:]


def test_a_small_call_to_action_in_a_box_like_the_articles_is_left_out() -> None:
    call = "<div><p>Join us, and get it all by mail, each day.</p></div>"
    assert text_of(site(f"<div>{article(PARAGRAPHS)}</div>{call}")) == "\n".join(PARAGRAPHS)


def test_the_part_that_holds_the_pages_heading_is_the_article() -> None:
    other = "".join(f"<p>In brief, story {i} of the day, by our staff.</p>" for i in range(16))
    first = f"<div class='row'><h1>Fog</h1>{article(PARAGRAPHS)}</div>"
    text = text_of(f"<html><body>{first}<div class='row'>{other}</div></body></html>")
    assert text.splitlines() == PARAGRAPHS


def test_a_manual_whose_sections_have_h1s_keeps_their_headings() -> None:
    names = ("NAME", "DESCRIPTION", "NOTES")
    parts = "".join(
        f"<section><h1 id='{name}'><a href='#{name}'>{name}</a></h1>{article(section)}</section>"
        for name, section in zip(names, SECTIONS, strict=True)
    )
    lines = text_of(f"<html><body><div>{parts}</div></body></html>").splitlines()
    assert [line for line in lines if line not in PARAGRAPHS] == ["DESCRIPTION", "NOTES"]
    assert [line for line in lines if line in PARAGRAPHS] == PARAGRAPHS


def test_cells_made_of_divs_are_read_as_those_of_tables_are() -> None:
    rows = [(f"get{i}(int holder)", f"Gets the value number {i}.") for i in range(9)]
    divs = "".join(f"<div>{name}</div><div>{what}</div>" for name, what in rows)
    cells = "".join(f"<tr><td>{name}</td><td>{what}</td></tr>" for name, what in rows)
    one, two = (
        text_of(site(f"<article>{article(PARAGRAPHS)}{body}</article>"))
        for body in (divs, f"<table>{cells}</table>")
    )
    assert one == two
    assert "get8(int holder)" in one


@pytest.mark.parametrize("tag", ["div", "h2", "p", "section"])
def test_title_and_byline_above_a_short_article_are_left_out(tag: str) -> None:
    body = f"<article><h1>Fog</h1><{tag}>Ann Bell today</{tag}>{article(PARAGRAPHS[:5])}</article>"
    text = text_of(f"<html><body><ul>{MENU}</ul>{body}</body></html>")
    assert text.splitlines() == PARAGRAPHS[:5]


CREDITS = [
    "（责任编辑：魏喆）",
    "(责编：魏喆、刘德)",
    "[作者：刘满 責任編輯：楊丹]",
    "编辑：小李",
    "文章来源：海峡日报",
    "转载请注明：原文链接 - http://a.example/1",
    "海峡网专稿，未经书面授权请勿转载。",
    "版权声明：本文为博主原创文章。",
    "微信扫一扫，识别二维码",
    "分享到：微信 微博",
    "上一篇：雾",
    "返回页首 | 关闭窗口",
    "相关阅读：",
    "[打印]",
]


@pytest.mark.parametrize("credit", CREDITS)
def test_a_credit_or_notice_below_a_chinese_article_is_left_out(credit: str) -> None:
    text = "\n".join(CHINESE)
    assert text_of(site(article([*CHINESE, credit]))) == text
    assert text_of(site(article([*CHINESE, *CREDITS]))) == text


@pytest.mark.parametrize("credit", CREDITS)
def test_what_reads_like_a_credit_is_text_within_an_article(credit: str) -> None:
    paragraphs = [*CHINESE[:6], credit, *CHINESE[6:]]
    assert text_of(site(article(paragraphs))) == "\n".join(paragraphs)


@pytest.mark.parametrize(
    "notice",
    [
        "Accessed: Sunday Jan 22 07:35:51 2023",
        "Sunday Jan 22 07:35:51 2023",
        "© 2003-2023 The Harbour Office",
        "Copyright (c) 2023 The Harbour Office. All rights reserved.",
        "Last updated 22 January 2023.",
        "This page was last modified on 22 January 2023, at 07:35.",
        "Generated on Sun Jan 22 2023 for Fog by Doxygen 1.9.4",
        "Generated by Doxygen 1.9.4",
        "最后更新：2023年1月22日",
    ],
)
def test_a_notice_of_when_the_page_was_made_is_no_text(notice: str) -> None:
    page = f"<html><body><div>{article(PARAGRAPHS)}<p>{notice}</p></div></body></html>"
    assert text_of(page).splitlines() == PARAGRAPHS


@pytest.mark.parametrize(
    "line",
    [
        "Changed in version 3.8: the bell rings twice.",
        "Updated charts are sold by the harbour office.",
        "Copyright belongs to the pilot who drew them.",
        "The new bell was hung on 22 January 2023.",
        "The ferry leaves the quay at 07:35 on weekdays.",
    ],
)
def test_a_last_line_that_says_something_is_text(line: str) -> None:
    page = f"<html><body><div>{article(PARAGRAPHS)}<p>{line}</p></div></body></html>"
    assert text_of(page).splitlines() == [*PARAGRAPHS, line]


@pytest.mark.parametrize(
    "paragraph",
    [
        "他们说，责任编辑那天没有上班。",
        "消息来源已经得到证实。",
        "本报转载了他的文章。",
        "分享会定在周六。",
        f"版权声明是这样写的：{''.join(CHINESE)}",
    ],
)
def test_a_paragraph_about_editors_and_copies_is_text(paragraph: str) -> None:
    assert text_of(site(article([*CHINESE, paragraph]))).endswith(paragraph)


def test_a_short_text_ends_before_its_credits_too() -> None:
    assert text_of(site(article([*CHINESE[:4], CREDITS[0]]))).splitlines() == CHINESE[:4]


def test_a_page_that_is_a_notice_alone_keeps_it() -> None:
    assert (
        text_of("<p>版权声明：本站文章未经许可，谢绝转载。</p>")
        == "版权声明：本站文章未经许可，谢绝转载。"
    )


def test_a_short_article_is_read_without_the_chrome_around_it() -> None:
    teasers = "".join(f"<div><a href='/t{i}'>A story {i}</a></div>" for i in range(9))
    body = f"<article><h1>Fog</h1>{article(PARAGRAPHS[:4])}</article>"
    chrome = "<p>Sign up for the letter, it is free.</p><div>English</div><div>Dark mode</div>"
    text = text_of(f"<html><body>{teasers}{body}<div>{chrome}</div></body></html>")
    assert text.splitlines() == PARAGRAPHS[:4]


@pytest.mark.parametrize("tag", ["main", "div role=main"])
def test_of_a_page_with_one_main_box_nothing_else_is_read_however_short_it_is(tag: str) -> None:
    inside = f"<h1>Fog</h1><p>{PARAGRAPHS[0]}</p><table><tr><td>Since</td><td>1.4</td></tr></table>"
    text = text_of(
        f"<html><body><p>Sign up, it is free.</p><{tag}>{inside}</{tag.split()[0]}>"
        f"<div><p>{PARAGRAPHS[4]}</p></div></body></html>"
    )
    assert text.splitlines() == [PARAGRAPHS[0], "Since", "1.4"]


def test_a_list_is_no_article_because_of_its_introduction() -> None:
    rows = "".join(
        f"<div><a href='/job{i}'>Harbour pilot number {i} for the east quay, full time</a></div>"
        for i in range(40)
    )
    body = f"<div>{article(PARAGRAPHS[:5])}</div><div>{rows}</div>"
    text = text_of(f"<html><body>{body}</body></html>")
    assert PARAGRAPHS[0] in text
    assert "Harbour pilot number 39 for the east quay, full time" in text


def test_a_list_of_references_in_a_text_is_no_menu() -> None:
    pages = ["getuid", "setresuid", "setreuid", "setuid", "credentials"]
    links = ", ".join(f"<a href='/{page}.html'>{page}</a>(2)" for page in pages)
    text = text_of(site(f"{article(PARAGRAPHS)}<p>{links}</p>"))
    assert text.splitlines()[-1].startswith("getuid(2), setresuid(2)")


@pytest.mark.parametrize("tag", ["embed", "source", "track", "wbr", "img", "input", "col"])
def test_an_element_without_an_end_tag_hides_nothing(tag: str) -> None:
    first, *rest = PARAGRAPHS
    html = site(f"<article><p>{first}</p><{tag} src='x'>{article(rest)}</article>")
    assert text_of(html) == "\n".join(PARAGRAPHS)


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var a = 'hidden text, quite long, with commas';</script>",
        "<style>p { content: 'hidden text, quite long, with commas' }</style>",
        "<noscript>hidden text, quite long, with commas</noscript>",
        "<template><p>hidden text, quite long, with commas</p></template>",
        "<p hidden>hidden text, quite long, with commas</p>",
        '<ul><li aria-hidden="true">hidden text, quite long, with commas</li></ul>',
        "<div hidden><p>hidden text, quite long, with commas</p></div>",
        '<div style="color:red; display: none"><p>hidden text, quite long, with commas</p></div>',
        "<select><option>hidden text, quite long, with commas</option></select>",
        "<svg><title>hidden text, quite long, with commas</title></svg>",
    ],
)
def test_hidden_text_is_left_out(hidden: str) -> None:
    assert "hidden text" not in text_of(site(hidden + article(PARAGRAPHS)))


def test_text_after_a_hidden_element_is_read() -> None:
    assert text_of("<p>before <script>x</script> after</p>") == "before after"


def test_inline_tags_do_not_split_words_and_breaks_do() -> None:
    assert text_of("<p>foo<b>bar</b> one<br>two</p>") == "foobar one two"


def test_the_tree_is_not_changed() -> None:
    root = parse(site(article(PARAGRAPHS)))
    before = etree.tostring(root)
    main_text(root)
    title_of(root)
    assert etree.tostring(root) == before


def test_two_thousand_levels_do_not_overflow() -> None:
    assert text_of("<div>" * 2000 + "bottom") == "bottom"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title> Fog\n over the  sound </title><p>x", "Fog over the sound"),
        ('<meta property="og:title" content="Fog"><h1>Other</h1>', "Fog"),
        ("<h1>Fog <i>today</i></h1>", "Fog today"),
        ("<svg><title>Icon</title></svg><p>x", ""),
        ("<p>x", ""),
    ],
)
def test_the_title_is_title_element_or_og_title_or_h1(html: str, expected: str) -> None:
    assert title_of(parse(f"<html><body>{html}</body></html>")) == expected


TAGS = ["div", "p", "a", "li", "nav", "footer", "pre", "span", "table", "td", "h1", "form"]


@given(
    st.recursive(
        st.sampled_from(["word", "Some words, with a comma.", "字，", " "]),
        lambda inner: st.builds(
            lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
            st.sampled_from(TAGS),
            st.lists(inner, max_size=4),
        ),
        max_leaves=25,
    )
)
def test_visible_text_is_never_wholly_lost(html: str) -> None:
    root = parse(f"<html><body>{html}</body></html>")
    visible = "".join(map(str, root.itertext())).strip()
    assert bool(main_text(root)) == bool(visible)


def test_a_note_under_the_heading_does_not_hide_the_rest() -> None:
    note = f"Fog: {' '.join(PARAGRAPHS[:6])}"
    rest = "".join(f"<h3>Part {i}</h3><p>{p}</p>" for i, p in enumerate(PARAGRAPHS[6:]))
    text = text_of(site(f"<div><p>{note}</p></div>{rest}"))
    assert note in text
    assert all(paragraph in text for paragraph in PARAGRAPHS[6:])


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        ("word " * 19 + "word", False),  # 99 characters, as all that follow
        ("word " * 19 + "words", True),
        ("слово" * 19 + "слов", False),
        ("слово" * 20, True),
        ("शब्दों " * 14 + "श", False),
        ("शब्दों " * 14 + "शब", True),
        ("단어들과" * 24 + "단어들", False),
        ("단어들과" * 25, True),
        ("ไม่มีเครื่องหมาย" * 6 + "ไม่", False),
        ("渔" * 33, False),  # three each
        ("渔" * 33 + "a", True),
        ("カ" * 33 + "a", True),
        ("छोटा वाक्य है।", True),
        ("چھوٹا جملہ ہے۔", True),
        ("ឃ្លាខ្លី។", True),
    ],
)
def test_how_long_running_text_is_counts_characters(text: str, is_text: bool) -> None:
    """Han and kana, which say more each, three; a sentence's end makes text of any line."""
    blocks = Blocks()
    blocks.add([text], 0, "p")
    assert (running_text(blocks) != [0]) is is_text
