"""Writes the ages of simhash_pipeline/page/counters.txt: python -m tests.counters_table.

An age is what the Unicode CLDR calls a relative time in the past, as Babel has it: "hace {0} horas"
becomes "hace # horas". Days (yesterday and today; CLDR's, which Babel leaves out, and "just now"),
what sites count, and "age more" are written by hand and stay.
"""

from __future__ import annotations

import re
from pathlib import Path

from babel import Locale
from babel.localedata import locale_identifiers

from simhash_pipeline.page import counters
from simhash_pipeline.page.folding import folded

LANGUAGES = (
    "af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id "
    "is it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl pa pl ps pt pt_PT ro ru si sk "
    "sl sq sr sr_Latn sv sw ta te th tr uk ur uz vi zh zh_Hant zu"
)
_UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
_FEWEST_BYTES = 4  # of its letters: "-3 h" may be anything


def ages(language: str) -> str:
    """The line of a language."""
    fields = Locale.parse(language)._data["date_fields"]
    forms = [fields[unit + width].get("past", {}) for unit in _UNITS for width in ("", "-short")]
    found = [form.replace("{0}", "#") for each in forms for form in each.values()]
    letters = {form: "".join(re.findall(r"[^\W\d_]", form)) for form in found}
    kept = [form for form in letters if len(letters[form].encode()) >= _FEWEST_BYTES]
    return f"age {language}: {'|'.join(kept)}"


def main() -> None:
    path = Path(counters.__file__).with_name("counters.txt")
    known = locale_identifiers()
    lines = [ages(language) for language in LANGUAGES.split() if language in known]
    made = {line.partition(":")[0] for line in lines}
    old = path.read_text("utf-8").splitlines()
    lines += [line for line in old if line.partition(":")[0] not in made]
    parts = (line.partition(": ") for line in lines)
    folds = (f"{kind}{colon}{folded(forms)}\n" for kind, colon, forms in parts)
    path.write_text("".join(folds), encoding="utf-8")


if __name__ == "__main__":
    main()
