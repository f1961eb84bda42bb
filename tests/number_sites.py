"""Sites of short pages that say something by a name, an amount, a date or a score alone.

Each kind of page is there in English and Chinese, and twice: with a title that names its subject,
and with one title for the whole site.
"""

from __future__ import annotations

from random import Random

KINDS = (
    *("price", "event", "quote", "weather", "score", "timetable", "draw", "flat", "sensor"),
    *("branch", "rate", "part"),
)
LANGUAGES = ("English", "Chinese")
PAGES = 40

_NAMES = {
    "English": (
        "amber",
        "arch",
        "barrel",
        "beacon",
        "birch",
        "bronze",
        "canvas",
        "cedar",
        "copper",
    ),
    "Chinese": ("琥珀", "拱门", "木桶", "灯塔", "白桦", "青铜", "帆布", "雪松", "铜匠"),
}
_TEXTS = {
    "English": {
        "price": "{name}. Our price: {amount} €. In stock: {small}. Order by {day}.",
        "event": "{name}, live on {day} at {clock}. Doors: {clock2}. Tickets from {amount} €.",
        "quote": "Last {amount}, change {small}.{small2} %, volume {large:,}, {day} {clock}.",
        "weather": "Today {small} °C, wind {small2} km/h, pressure 10{small3} hPa, no rain.",
        "score": "{name} against {name2}: {small} to {small2}. Spectators: {large}.",
        "timetable": "Departures: {clock}, {clock2}. Platform {small}. Runs daily except on {day}.",
        "draw": "Draw of {day}: the winning number is {large}. Good luck next time.",
        "flat": "{small} rooms, {small2} square metres, {large} € a month, free from {day}.",
        "sensor": "Station {small}: level {amount} cm, flow {small2} m³/s, measured at {clock}.",
        "branch": "Our branch in the old town. Open from 9 to 17. Call us: 040{large}{small}.",
        "rate": "One euro is worth {amount} today. Yesterday it was {amount2}. Source: the bank.",
        "part": "Part {large} is out of stock. Ask for it again next week.",
    },
    "Chinese": {
        "price": "{name}，本店价格：{amount} 元，库存 {small} 件，{day} 前下单。",
        "event": "{name} 现场演出，{day} {clock} 开始，{clock2} 入场，票价 {amount} 元起。",
        "quote": "最新价 {amount}，涨跌 {small}.{small2} %，成交量 {large}手，{day} {clock}。",
        "weather": "今天气温 {small} °C，风速 {small2} 公里每小时，气压 10{small3} 百帕，无雨。",
        "score": "{name} 对 {name2}：{small} 比 {small2}，现场观众 {large}人。",
        "timetable": "发车时间：{clock}、{clock2}，{small} 号站台，{day} 停运。",
        "draw": "{day} 开奖：中奖号码为 {large}。祝您下次好运。",
        "flat": "{small} 室，{small2} 平方米，月租 {large}元，{day} 起可入住。",
        "sensor": "{small} 号站：水位 {amount} 厘米，流量 {small2} 立方米每秒，{clock} 测得。",
        "branch": "本店位于老城区，营业时间 9 点到 17 点，电话：010{large}{small}。",
        "rate": "今天一欧元兑 {amount} 元，昨天为 {amount2} 元。来源：银行。",
        "part": "零件 {large} 缺货，请下周再来询问。",
    },
}
_TITLES = {"English": "Town guide", "Chinese": "城市指南"}


def number_site(
    kind: str, language: str, *, names_subjects: bool, seed: int = 7
) -> list[tuple[str, str]]:
    """(URL, HTML) of the pages; the last part of a URL is a name and a number, or a part's."""
    random = Random(f"{seed} {kind} {language}")
    names, text = _NAMES[language], _TEXTS[language][kind]
    pages = []
    for number in range(PAGES):
        name, large = random.choice(names), random.randrange(100_000, 1_000_000)
        said = text.format(
            name=name,
            name2=random.choice(names),
            amount=f"{random.randrange(1, 99)}.{random.randrange(10, 99)}",
            amount2=f"{random.randrange(1, 99)}.{random.randrange(10, 99)}",
            small=random.randrange(10, 40),
            small2=random.randrange(10, 90),
            small3=random.randrange(10, 40),
            large=large,
            day=f"2026-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
            clock=f"{random.randrange(7, 23):02}:{random.randrange(60):02}",
            clock2=f"{random.randrange(7, 23):02}:{random.randrange(60):02}",
        )
        url = f"http://town.example/{kind}/{large if kind == 'part' else f'{name}-{number}'}"
        title = f"{name} {number} - {_TITLES[language]}" if names_subjects else _TITLES[language]
        menu = f'<ul><li><a href="/">{_TITLES[language]}</a></li></ul>'
        html = f"<title>{title}</title><body>{menu}<h1>{_TITLES[language]}</h1><p>{said}</p></body>"
        pages.append((url, html))
    return pages
