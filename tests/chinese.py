"""The Chinese sentences of the generated pages: docs/zh/sentences.json.

Of a setting by its name, of a command by its English sentence.
"""

from __future__ import annotations

import json

from tests.documents import DOCS

SENTENCES = DOCS / "zh/sentences.json"
_ALL: dict[str, dict[str, str]] = json.loads(SENTENCES.read_text(encoding="utf-8"))
SETTINGS, COMMANDS = _ALL["settings"], _ALL["commands"]
