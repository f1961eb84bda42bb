"""How values are written: numbers, dates, prices and links, each in one notation.

And which of them crawls add. Of a text alone: whether a page shows it, says on_page.py.
"""

import re
import time
from datetime import date
from functools import lru_cache
from urllib.parse import urlsplit

from simhash_pipeline.page.bounds import checked_url

_DIGEST = re.compile(r"(?:[0-9a-f]{4}-?){4,}|(?:[0-9A-F]{4}-?){4,}")  # or a UUID
JOINTS = str.maketrans("", "", ".,' \u2019\u00a0\u202f\u2009")
_ZEROS = re.compile(r"[.,]00(?!\d)")
_THOUSANDS = re.compile(r"(?<=\d)[.,'\u2019 ](?=\d{3}(?!\d))")
# Of a date, by the beginnings of their names: 1 to 12.
_MONTHS = re.compile(
    r"(?<![^\W\d_])(?:(jan|ene|gen|янв|oca|sty)|(feb|fév|fev|фев|şub|lut)|(mär|maa|mar|mrt|мар)"
    r"|(avr|abr|apr|апр|nis|kwi)|(mai|maj|may|mei|mag|май|мая)|(juin|jun|giu|июн|haz|cze)"
    r"|(juil|jul|lug|июл|tem|lip)|(aoû|ago|aug|авг|ağu|sie)|(sep|set|сен|eyl|wrz)"
    r"|(oct|okt|ott|out|окт|eki|paź)|(nov|ноя|kas|lis)|(déc|dez|dic|dec|дек|ara|gru))[^\W\d_]*"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CLOCK = re.compile(
    r"(?<!\d)\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:[ap]\.?m\b\.?|z\b|[+-]\d\d:?\d\d)?"
)
_DATE_CHARS = 40
# What else is in one that is no number and no month.
_OF_DATES = re.compile(
    r"[\d\s.,/年月日-]+|(?<![^\W\d_])(?:st|nd|rd|th|de|del|of|the|den|der|le|à|at|on|um|uhr|kl|t|gmt|utc"
    r"|[^\W\d_]+(?:day|tag|di)|mittwoch|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)"
    r"(?![^\W\d_])"
)
_BLANKS = re.compile(r" (?=\d)|(?<=\d) ")
DIGITS = re.compile(r"\d+")
_CODES = {"£": "gbp", "₩": "krw", "kč": "czk", "ft": "huf", "zł": "pln", "r$": "brl"}
_CODES |= {"€": "eur", "euro": "eur", "euros": "eur", "$": "usd", "us$": "usd", "¥": "jpy"}
_CODES |= {"円": "jpy", "元": "cny", "rmb": "cny", "₹": "inr", "rs": "inr"}
_CODES |= {"₽": "rub", "руб": "rub", "рублей": "rub", "yen": "jpy", "евро": "eur"}
_CODES |= {"dollar": "usd", "dollars": "usd"}
_CURRENCY = re.compile(
    r"(?:(?<![^\W\d_])[a-z]{1,3})?\$|[€£¥₹₩₽₺₫₪฿元円원]|(?<![^\W\d_])(?:euros?|eur|usd|gbp|cad|aud|chf|jpy"
    r"|cny|rmb|inr|krw|rub|руб(?:лей|ля|ль)?|pln|zł|czk|kč|huf|ft|ron|lei|sek|nok|dkk|kr|brl|mxn|idr|rp|rs"
    r"|dollars?|francs?(?: suisses)?|livres sterling|pounds sterling|yen|евро)(?![^\W\d_])"
)
# A number alone or with its currency or unit: €12.50, 12.50 EUR, Rs. 500, R$ 49,90, 40 cm, FR-1001.
_UNIT = rf"(?:{_CURRENCY.pattern}|[^\W\d_]{{0,4}}[^\w\s]?)"
_AMOUNT = re.compile(rf"{_UNIT}\s?(\d[\d.,' \u2019\u00a0\u202f\u2009]*){_UNIT}", re.IGNORECASE)
_FROM = re.compile(r"^(?:from|ab|dès|desde|da|od|от|vanaf|fra|från|à partir de)\s")
_PRICE_CHARS, _AMOUNT_CHARS = 40, 100
_DAY_SECS = 86_400
_MAX_LINK_CHARS = 10_000  # browsers and servers take 8,000
IMAGE = re.compile(r"(?i)\.(?:avif|gif|jpe?g|png|svg|webp)\b")


def bare_number(text: str) -> str:
    """A number without its currency, and without zeros after its point; "" for another text."""
    amount = _AMOUNT.fullmatch(text) if len(text) <= _AMOUNT_CHARS else None
    number = amount[1].strip() if amount else ""
    return number.rstrip("0").rstrip(".") if "." in number and "," not in number else number


def in_one_notation(text: str) -> str:
    """An amount without blanks, and without zeros behind a point: 1 299,00 kr is 1299kr."""
    return _BLANKS.sub("", _ZEROS.sub("", text)) if is_amount(text) else text


def numbers_of(text: str) -> list[str]:
    """The numbers of a short folded text, in one notation, and the currency or unit of an amount.

    "from 1,299.00 €" has 1299 and eur, 12a has 12 and a. A date has no time of day, and its month
    is one of 12: print views often write it otherwise.
    """
    if len(text) <= _DATE_CHARS and _YEAR.search(text) is not None:
        text = _MONTHS.sub(lambda month: f" {month.lastindex} ", _CLOCK.sub("", text))
    joined = _THOUSANDS.sub("", _ZEROS.sub("", text))
    numbers = [found.lstrip("0") or "0" for found in DIGITS.findall(joined)]
    text = _FROM.sub("", text)
    unit = "".join(filter(str.isalpha, _CURRENCY.sub("", text))) if is_amount(text) else ""
    return [each for each in (*numbers, _currency_of(text), unit) if each]


def is_date(text: str) -> bool:
    """Whether it is a day, a month and a year, perhaps with a time of day, and nothing else."""
    if len(text) > _DATE_CHARS or _YEAR.search(text) is None:
        return False
    rest = _MONTHS.sub(" ", _CLOCK.sub(" ", text))
    return _OF_DATES.sub("", rest) == "" and len(DIGITS.findall(" ".join(numbers_of(text)))) == 3


def is_amount(text: str) -> bool:
    """Whether it is a number, alone or with its currency or unit."""
    return len(text) <= _AMOUNT_CHARS and _AMOUNT.fullmatch(text) is not None


def is_price(text: str) -> bool:
    """Whether it is short, and has a number and a currency."""
    return _currency_of(text) != ""


def _currency_of(price: str) -> str:
    """The currencies of a short text with a number, as codes; "" of another text."""
    if len(price) > _PRICE_CHARS or DIGITS.search(price) is None:
        return ""
    found = {_CODES.get(each, each) for each in _CURRENCY.findall(price)}
    return " ".join(sorted(found))


def is_of_the_crawl(text: str) -> bool:
    """Whether it is a digest, a UUID or a time of today: what spiders add."""
    try:
        number = float(text)
    except ValueError:
        is_now = text[:10] in days_about_now() and ":" in text
        return is_now or _DIGEST.fullmatch(text) is not None
    return any(abs(number / unit - time.time()) < _DAY_SECS for unit in (1, 1_000, 1_000_000))


def days_about_now() -> set[str]:
    now = time.time()
    return {str(date.fromtimestamp(now + days * _DAY_SECS)) for days in (-1, 0, 1)}


@lru_cache(maxsize=8)
def path_of(text: str) -> str:
    """The path of a URL, or else its host; "" for another text."""
    if not (text.startswith("/") or "://" in text[:12]) or len(text) > _MAX_LINK_CHARS:
        return ""
    if text.split() != [text]:
        return ""
    try:
        parts = urlsplit(checked_url(text))
    except ValueError:
        return ""
    return parts.path.strip("/") or parts.netloc


def link_of(text: str) -> str:
    """A URL but for its scheme and host; "" for another text, and for an image's."""
    path = path_of(text)
    if not path or IMAGE.search(path):
        return ""
    return urlsplit(text)._replace(scheme="", netloc="").geturl().strip("/") or path
