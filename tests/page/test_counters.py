import pytest

from simhash_pipeline.page import counters
from simhash_pipeline.page.counters import MAX_LINE, without_counters
from simhash_pipeline.page.folding import folded, spelled

# A line on one day and on the next.
ON_TWO_DAYS = [
    ("5 hours ago", "1 day 3 hours ago"),
    ("Yesterday", "2 days ago"),
    ("5m ago", "3h ago"),
    ("5 mins ago", "2 hrs ago"),
    ("Just now", "an hour ago"),
    ("Today, 10:12", "Yesterday at 10:12 AM"),
    ("5 comments", "1,207 comments"),
    ("Views: 1.2k", "Views: 3k"),
    ("昨天", "2天前"),
    ("刚刚", "3分钟前"),
    ("今天 10:12", "昨天 10:12"),
    ("5則留言", "7則留言"),
    ("阅读(7)", "阅读(93)"),
    ("hace 2 horas", "Hace 1 día"),
    ("Hoy a las 10:12", "Ayer a las 10:12"),
    ("5 comentarios", "Comentarios: 6"),
    ("vor 3 Stunden", "vor 1 Tag"),
    ("Heute, 10:12 Uhr", "gestern um 10.12 Uhr"),
    ("5 Kommentare", "1 Kommentar"),
    ("il y a 2 heures", "Hier à 10h12"),
    ("2 ore fa", "Ieri, 10:12"),
    ("há 2 horas", "2 dias atrás"),
    ("2 часа назад", "Вчера в 10:12"),
    ("1 комментарий", "5 комментариев"),
    ("5 godzin temu", "wczoraj"),
    ("2 saat önce", "Dün, 10:12"),
    ("قبل 3 ساعات", "منذ 5 ساعات"),
    ("2 ساعت پیش", "دیروز"),
    ("לפני שעתיים", "לפני 3 שעות"),
    ("2 घंटे पहले", "कल"),
    ("5 টি মন্তব্য", "6 টি মন্তব্য"),
    ("2 ชั่วโมงที่ผ่านมา", "เมื่อวาน 10:12"),
    ("2 giờ trước", "Hôm qua"),
    ("2 jam yang lalu", "kemarin"),
    ("2時間前", "昨日 10:12"),
    ("2시간 전", "어제"),
    ("2 ម៉ោងមុន", "ម្សិលមិញ"),
    ("9980次阅读", "1.2万次阅读"),
    ("阅读 9.8万", "阅读 10万+"),
    ("99 comments", "100+ comments"),
    ("980 vistas", "1,2 mil vistas"),
    ("980 просмотров", "1,2 тыс. просмотров"),
    ("조회 980", "조회 1.2만"),
    ("12 people like this", "13 people like this"),
    ("Read 816 times", "Read 1,207 times"),
    ("Viewed 1 time", "Viewed 2 times"),
    ("816 times viewed", "1.2k times viewed"),
    ("Shared 12 times", "Sold 12 times"),
    ("Seen by 816 readers", "817 people read this"),
    ("This article has been read 816 times", "Post views: 817"),
    ("816 mal gelesen", "Dieser Artikel wurde 817 Mal gelesen"),
    ("Lu 816 fois", "Lu 12 345 fois"),
    ("980 vues", "12 345 vues"),
    ("Leído 816 veces", "Compartida 12 veces"),
    ("Letto 816 volte", "Questo articolo è stato letto 817 volte"),
    ("Lido 816 vezes", "Visto por 816 pessoas"),
    ("816 keer gelezen", "Bekeken: 817"),
    ("Przeczytano 816 razy", "Wyświetlono 1 raz"),
    ("Просмотрено 816 раз", "Просмотрено 12 343 раза"),
    ("816 kez görüntülendi", "Bu haber 817 kez okundu"),
    ("已阅读816次", "本文已被閱讀 1.2万 次"),
    ("被阅读 816 次", "评论 (5条)"),
    ("816回閲覧", "閲覧数 817回"),
    ("816人が読みました", "817回読まれました"),
    ("816번 읽음", "조회수 817회"),
    ("Läst 816 gånger", "Přečteno 817×"),
    ("Đã đọc 816 lần", "อ่าน 817 ครั้ง"),
    ("قرئ 816 مرة", "נקרא 817 פעמים"),
    ("84 people are watching this lot", "5 people looking"),
    ("84 people are watching", "Booked 12 times today"),
    ("40 Personen sehen sich dieses Hotel an", "12 mal gebucht"),
    ("12人正在看", "3次围观"),
    ("5人が見ています", "3人が閲覧中"),
]


def left(line: str, *, is_main: bool = False, is_above: bool = False) -> str:
    return without_counters(spelled(line), is_main=is_main, is_above=is_above)


@pytest.mark.parametrize(("line", "later"), ON_TWO_DAYS)
def test_counters_and_ages_say_nothing_alone_in_a_line_or_at_a_bylines_end(
    line: str, later: str
) -> None:
    assert left(line) == left(later) == left(line, is_main=True) == ""
    assert left(f"Ann Lee | {line}") == left(f"Ann Lee | {later}") == "Ann Lee"
    for byline in ("By our staff, {}", "By our staff, {}.", "By our staff ({}),"):
        said = [left(byline.format(each), is_main=True, is_above=True) for each in (line, later)]
        assert said == ["By our staff"] * 2


@pytest.mark.parametrize(
    "line",
    [
        "Price: 12 euros",
        "$12",
        "12,50 €",
        "Preis: 12 Euro",
        "Цена: 120 руб.",
        "价格 120元",
        "ราคา 120 บาท",
        "가격 5000원",
        "Room 12, page 3",
        "Dauer: 3 Stunden",
        "10:12",
        "12 May",
        "Sleeps 6 people",
        "Reviews: 4.6",
        "Avis : 4,5/5",
        "12万元",
        "12 people",
        "Sold in boxes of 12",
        "Seen on page 12",
        "1 letto",
        "Current bid: 150 EUR",
        "第 3 次",
    ],
)
@pytest.mark.parametrize("is_main", [True, False])
def test_prices_and_other_numbers_stay(line: str, is_main: bool) -> None:
    assert left(line, is_main=is_main, is_above=True) == line
    assert line.rstrip(".") in left(f"{line}, 5 comments, 2 hours ago", is_main=is_main)


@pytest.mark.parametrize("line", ["日本 (日本語)", "|1 2 3 前回 下一页|", "- Room 12, min. 3 -"])
def test_a_line_without_a_counter_keeps_its_marks(line: str) -> None:
    assert left(line) == spelled(line)


@pytest.mark.parametrize(
    ("line", "later"),
    [("조회수 123회", "조회수 1,234회"), ("댓글 9개", "댓글 12개"), ("9comments", "12comments")],
)
def test_a_word_may_touch_the_number(line: str, later: str) -> None:
    assert left(line) == left(later)


@pytest.mark.parametrize(
    "line",
    [
        "42 readers saw it",
        "The ferry sank 5 hours ago near the quay.",
        "Der Zug kam vor 3 Stunden an.",
        "5 comentarios llegaron tarde.",
        "The comet was seen 3 times.",
        "Sie hat das Buch 3 mal gelesen.",
        "Он прочитал книгу 3 раза.",
        "Police said yesterday that 3 boats sank.",
        "Ford has 12 votes, Lund 9 votes and Hall 3 votes.",
    ],
)
def test_those_within_a_sentence_stay_in_the_main_text(line: str) -> None:
    assert left(line, is_main=True, is_above=True) == line


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("Sleeps 6 120 reviews", "Sleeps 6"),
        ("€49 312 reviews", "€49"),
        ("€ 49 312 reviews", "€ 49"),
        ("2026-11-14 312 views", "2026-11-14"),
        ("2-1 312 comments", "2-1"),
    ],
)
def test_a_number_between_a_word_or_sign_and_a_counter_stays(line: str, stays: str) -> None:
    """Though "12 345 views" alone counts thousands."""
    assert left(line) == stays


@pytest.mark.parametrize(
    ("line", "later", "stays"),
    [
        ("Ann Ford 5 hours ago", "Ann Ford | 2 days ago", "Ann Ford"),
        ("5 hours ago by Ann Ford", "2 days ago by Ann Ford", "by Ann Ford"),
        ("vor 5 Stunden von Ann Ford", "vor 2 Tagen von Ann Ford", "von Ann Ford"),
        ("张三 5小时前", "张三 2天前", "张三"),
    ],
)
def test_an_age_beside_a_name_goes_from_the_main_text(line: str, later: str, stays: str) -> None:
    """As between the posts of a thread."""
    assert left(line, is_main=True) == left(later, is_main=True) == stays


@pytest.mark.parametrize(
    "line",
    [
        "Last accident: 5 days ago",
        "Last accident: 5d ago",
        "Roma 12 ago",
        "12 ago 2026",
        "Second dose at least 14 days ago",
        "Zweite Impfung mindestens vor 14 Tagen",
        "入住3天前可免费取消",
        "宿泊日の3日前まで 無料",
        "Tunnel closed yesterday",
        "4,200 EUR net",
    ],
)
def test_other_lines_with_an_age_stay_in_the_main_text(line: str) -> None:
    assert left(line, is_main=True) == spelled(line)


def test_a_sentence_below_the_first_paragraph_and_a_long_line_stay() -> None:
    assert left("By our staff, 5 hours ago.", is_main=True) == "By our staff, 5 hours ago."
    long = "a" * (MAX_LINE - 4) + " 5 hours ago"
    assert left(long) == long


def test_the_table_is_folded() -> None:
    """As the lines are in which its words are looked for."""
    for line in counters._WORDS.splitlines():
        _, _, forms = line.partition(": ")
        assert forms == folded(forms)
