import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_pipeline import Fingerprinter
from simhash_pipeline.page import folding
from simhash_pipeline.page.folding import _composed, _is_mark, folded, is_pieced, spelled, words_of

# One text in two spellings: both are written as the first.
SPELLINGS = [
    ('"It\'s," she said - "no..."', "“It’s,” she said — „no…”"),
    ("information desktop", "infor\u00admation desk\u200btop"),
    ("wartime", "\u2060war\u200dti\ufeffme\u200f"),
    ("Ångström café", "A\u030angstro\u0308m cafe\u0301"),
    ("full width, 12", "ｆｕｌｌ　ｗｉｄｔｈ， １２"),
    ("港口,安全.", "港口，安全。"),
    ("コンピューター", "ｺﾝﾋﾟｭｰﾀｰ"),
    ("デジタル~", "テ\u3099シ\u3099タル〜"),
    ("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"),
    ("السلام", "السَّلَام"),
    ("كتاب", "كتـــاب"),
    ("كتاب", "\u06a9تاب"),
    ("علي", "عل\u06cc"),
    ("احمد واحد", "أحمد وأحد"),
    ("مسوول", "مسؤول"),
    ("مي خواهم", "می\u200cخواهم"),
    ("2024", "٢٠٢٤"),
    ("2024", "۲۰۲۴"),
    ("2024", "२०२४"),
    ("2024", "๒๐๒๔"),
    ("şi ţara", "și țara"),
    ("Istanbul ilik", "İstanbul ılık"),
    ("елка", "ёлка"),
    ("क्ष", "क्\u200dष"),
    ("कोई", "को\u200cई"),
    ("שלום", "שָׁלוֹם"),
    ("பொ", "ப\u0bc6\u0bbe"),
    ("น\u0e4d\u0e32", "นำ"),
]


@pytest.mark.parametrize(("expected", "text"), SPELLINGS)
def test_a_text_has_one_spelling(expected: str, text: str) -> None:
    assert spelled(text) == expected
    assert spelled(expected) == expected
    assert spelled(unicodedata.normalize("NFD", text)) == expected
    assert folded(text) == expected.lower()


@given(st.text(st.characters(min_codepoint=1), max_size=30), st.text(max_size=30))
def test_what_is_folded_stays_so_between_lines(a: str, b: str) -> None:
    """So that the blocks of a page may be folded together."""
    a, b = a.replace("\n", " "), b.replace("\n", " ")
    assert spelled(f"{a}\n{b}").split("\n") == [spelled(a), spelled(b)]


def test_every_character_is_spelled_alone_as_between_others() -> None:
    """The table of those that stand alone says what the rules say."""
    for code in range(0x10000):
        character = chr(code)
        slow = _composed(character.replace("\u200c", ""))
        if character not in folding.characters(folding.IN_WORDS):
            assert spelled(f"中{character}中") == spelled("中" + slow + "中"), ascii(character)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Release 3.27.1: C++ and “it’s”", ["release", "3.27.1", "c", "++", "and", "it", "s"]),
        ("港口的渔船", ["港口", "口的", "的渔", "渔船"]),
        ("港", ["港"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("항구로 배", ["항구", "구로", "배"]),
        ("ที่นี่ดีมาก", ["ที่นี่ดีม", "นี่ดีมา", "ดีมาก"]),
        ("ພາສາ ລາວ", ["ພາສາ", "ລາວ"]),
        ("ភាសាខ្មែរ", ["ភាសាខ្មែ", "សាខ្មែរ"]),
        ("မြန်မာစာ", ["မြန်မာစာ"]),
        ("བོད་ཡིག་གི་སྐད", ["བོད་ཡིག་", "ཡིག་གི་", "གི་སྐད"]),
        ("Việt Nam 3.1", ["việt nam", "nam 3.1"]),
        ("ไทย5ปี 10:12", ["ไทย", "5", "ปี", "10:12"]),
        ("—…", []),
    ],
)
def test_a_title_is_cut_into_words_of_its_script(title: str, expected: list[str]) -> None:
    assert words_of(title) == expected


@given(st.text(st.sampled_from("aB1_2.:/-+*%=<>!~^&#@$'(, \t\n\x1c"), max_size=12))
def test_an_ascii_title_is_cut_alike_beside_other_scripts(title: str) -> None:
    assert words_of(f"{title} 港口") == [*words_of(title), "港口"]


def test_pieces_of_words_may_begin_anywhere() -> None:
    assert [word for word in words_of("port 港口 ไทย 항구 हिन्दी བོད་") if is_pieced(word)] == [
        "港口",
        "ไทย",
        "항구",
        "བོད་",
    ]


@pytest.mark.parametrize("mark", ["\u0301", "\u0316\u0301", "\u0f73", "\uff9e\u0301"])
def test_a_row_of_more_than_thirty_marks_does_not_count(mark: str) -> None:
    row = mark * 300
    left = unicodedata.normalize("NFKC", f"xy{row[:30]}")
    assert _composed(f"{row[:31]}x{row}y{row[:30]}") == left
    assert _composed(f"{row[:30]}x") == unicodedata.normalize("NFKC", f"{row[:30]}x")


def test_all_that_nfkc_could_sort_are_marks() -> None:
    for character in map(chr, range(sys.maxunicode + 1)):
        first = unicodedata.normalize("NFKD", character)[0]
        assert unicodedata.combining(first) == 0 or _is_mark(character), ascii(character)


@pytest.mark.parametrize(("expected", "text"), SPELLINGS)
def test_every_witness_of_a_page_is_blind_to_spelling(expected: str, text: str) -> None:
    """Of titles only the stories, which hold them: what names a title says is judged elsewhere."""
    rest = " ".join(f"word{number}" for number in range(60))
    pages = [
        Fingerprinter().fingerprint(f"<title>T</title><p>{said} {rest}.</p><p>{said}".encode())
        for said in (expected, text, unicodedata.normalize("NFD", text))
    ]
    for name in ("content", "sketch", "article", "sample", "blocks", "digest", "tokens"):
        assert len({getattr(page, name) for page in pages}) == 1, name


def test_a_thin_pages_digest_is_blind_to_spelling() -> None:
    curly, plain = (f"<title>Ann{q}s</title><p>It{q}s" for q in ("\u2019", "'"))
    assert Fingerprinter().fingerprint(curly).digest == Fingerprinter().fingerprint(plain).digest


def test_a_long_row_of_characters_beyond_16_bits_is_no_row_of_marks() -> None:
    row = "\U00020000\U000e0100\U0001f600" * 20 + "\U0003fffe" * 40
    assert _composed(row) == spelled(row) == row
    assert _composed("\U0001d165" * 40 + "x") == "x"  # a mark beyond 16 bits


def test_one_line_that_python_spells_leaves_the_others_to_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the kernel each asking of numpy takes as long as a line of a hundred words."""
    asked: list[str] = []
    table = folding._by_table

    def counted(text: str) -> str | None:
        asked.append(text)
        return table(text)

    monkeypatch.setattr(folding, "_by_table", counted)
    lines = ["Äpfel „hier“"] * 10_000
    said = ['Äpfel "hier"'] * 10_000
    assert spelled("\n".join([*lines, "a\u030a"])) == "\n".join([*said, "å"])
    assert len(asked) < 100
