"""The second addresses of stories: what each copy changes, and who links it.

A copy that is not `listed` is linked from its story alone, so every crawl meets the story first.
"""

from dataclasses import dataclass
from typing import Final, Literal

Frame = Literal["site", "mobile", "wire", "print"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One more address of the story at `source`, and how its page differs."""

    path: str
    source: str
    case: str
    listed: bool = True
    frame: Frame = "site"
    offset: int = 0  # shifts which ads and related links are shown
    stamp: int = 0  # 0 or 1: which of the two wordings of "updated ... ago"
    promo: bool = False  # an advertisement between the paragraphs
    sid: str = ""
    title: str = ""  # another headline
    update: str = ""  # one more paragraph at the end
    charset: str = "utf-8"
    header_charset: str | None = "utf-8"
    meta_charset: str | None = "utf-8"


BOOKSHOP: Final = "/zh/wenhua/%E6%97%A7%E4%B9%A6%E5%BA%97"
TRAM_UPDATE: Final = (
    "Update: the first tram on opening day will leave Mill Cross at half past nine."
)
PILOT_UPDATE: Final = "补记：见报前，引航站来电话说，那条运木头的老船没有拆。"

# Stories handed out with a session id; each page links the others of its row with the same id.
SESSIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "9f3ac2",
        ("/en/science/seagrass-survey", "/en/science/rooftop-telescope", "/en/port/harbour-diver"),
    ),
    (
        "41be07",
        ("/en/science/rooftop-telescope", "/en/science/seagrass-survey", "/en/port/harbour-diver"),
    ),
    ("7ac1d0", ("/zh/chengshi/last-metro", "/zh/chengshi/school-lunch")),
)

_PRINTED: Final = (
    "/en/port/west-channel-dredging",
    "/en/city/council-minutes-may",
    "/en/food/fish-pie",
    "/zh/gangkou/haiyan-ferry",
    "/zh/meishi/steamed-bass",
)
_SYNDICATED: Final = (
    (
        "/en/wire/ferry-corrie",
        "/en/port/ferry-corrie",
        "Old ferry goes to the breakers at sixty-two",
    ),
    ("/en/wire/rope-museum", "/en/culture/rope-museum", ""),
    ("/en/wire/night-bus-trial", "/en/city/night-bus-trial", ""),
    ("/zh/wire/typhoon-night", "/zh/chengshi/typhoon-night", ""),
    ("/zh/wire/dragon-boat", "/zh/tiyu/dragon-boat", ""),
)
_ONE_BY_ONE: Final = (
    Variant(
        "/2025/03/14/crane-seven-lifts-again", "/en/port/crane-seven", "same-article-other-path"
    ),
    Variant("/zh/2025/0318/new-berth", "/zh/gangkou/new-berth", "same-article-other-path"),
    Variant(
        "/en/port/crane-seven?utm_source=newsletter&utm_medium=email",
        "/en/port/crane-seven",
        "tracking",
    ),
    Variant("/en/port/crane-seven?utm_source=harbour-radio", "/en/port/crane-seven", "tracking"),
    Variant(
        "/zh/gangkou/new-berth?utm_source=zaochao&utm_medium=email",
        "/zh/gangkou/new-berth",
        "tracking",
    ),
    Variant(
        "/en/weather/fog-season?region=north",
        "/en/weather/fog-season",
        "changed-ads",
        listed=False,
        offset=2,
    ),
    Variant(
        "/zh/kexue/bird-ringing?region=nan",
        "/zh/kexue/bird-ringing",
        "changed-ads",
        listed=False,
        offset=1,
        promo=True,
    ),
    Variant(
        "/en/city/bridge-bearings?edition=evening",
        "/en/city/bridge-bearings",
        "changed-timestamps",
        listed=False,
        stamp=1,
    ),
    Variant(
        "/zh/kexue/mangrove-nursery?ban=wan",
        "/zh/kexue/mangrove-nursery",
        "changed-timestamps",
        listed=False,
        stamp=1,
    ),
    Variant("/m/en/food/bread-lane", "/en/food/bread-lane", "changed-nav", frame="mobile"),
    Variant(f"/m{BOOKSHOP}", BOOKSHOP, "changed-nav", frame="mobile"),
    Variant(
        "/en/culture/brass-band?from=most-read",
        "/en/culture/brass-band",
        "changed-related",
        offset=5,
    ),
    Variant(
        "/zh/wenhua/shadow-puppets?from=most-read",
        "/zh/wenhua/shadow-puppets",
        "changed-related",
        offset=5,
    ),
    Variant(
        "/en/city/tram-line-four/updated",
        "/en/city/tram-line-four",
        "added-paragraph",
        update=TRAM_UPDATE,
    ),
    Variant(
        "/zh/gangkou/pilot-interview/updated",
        "/zh/gangkou/pilot-interview",
        "added-paragraph",
        update=PILOT_UPDATE,
    ),
    Variant(
        "/zh/meishi/zaodian-gbk",
        "/zh/meishi/breakfast-stall",
        "gbk",
        charset="gbk",
        header_charset=None,
        meta_charset="gbk",
    ),
    Variant(
        "/zh/shenghuo/hangqing",
        "/zh/shenghuo/seafood-market",
        "mislabelled",
        charset="gbk",
    ),
    Variant("/en/notices/counter-shut", "/en/notices/office-closed", "thin-same", offset=1),
    Variant("/zh/notices/qiantai", "/zh/notices/library-hours", "thin-same", offset=1),
    Variant(
        "/en/forum/heron-on-the-weir?post=3",
        "/en/forum/heron-on-the-weir",
        "forum",
        listed=False,
    ),
    Variant("/zh/forum/dialect-word?post=2", "/zh/forum/dialect-word", "forum", listed=False),
)


def all_variants() -> tuple[Variant, ...]:
    """Every second address on the site."""
    prints = (Variant(f"/print{path}", path, "print-view", False, "print") for path in _PRINTED)
    wires = (
        Variant(path, source, "syndicated", frame="wire", title=title)
        for path, source, title in _SYNDICATED
    )
    sessions = (
        Variant(f"{path}?sid={sid}", path, "session-id", listed=path == paths[0], sid=sid)
        for sid, paths in SESSIONS
        for path in paths
    )
    return (*_ONE_BY_ONE, *prints, *wires, *sessions)
