"""The keys that commands print with `--json` are those that the documents promise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from simhash_pipeline import Options, open_store
from simhash_pipeline.page.stamp import stamp_for
from tests.cli.simhash_command import Simhash
from tests.commands_page import KEYS
from tests.stores.pages import keep, page

STORE = ("-S", "seen.sqlite")
COMMANDS = {
    "dedup": ["broken.jsonl", "-o", "out.jsonl", "--copies", "clean"],
    "store info": STORE,
    "store forget": ["https://a.org/1", *STORE],
}


def promised(command: str) -> set[str]:
    """The keys of an object itself: those of objects in it stand in brackets."""
    return set(re.findall("`(.*?)`", re.sub(r"\(.*?\)", "", KEYS[command])))


@pytest.mark.usefixtures("shared_workers")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_keys_are_those_in_the_readme(simhash: Simhash, tmp_path: Path, command: str) -> None:
    story = f"<p>{' '.join(f'word{i}' for i in range(60))}"
    items = [json.dumps({"url": f"https://a.org/{n}", "html": story}) for n in range(2)]
    (tmp_path / "broken.jsonl").write_text("\n".join([*items, "{"]))
    with open_store(f"sqlite:///{tmp_path}/seen.sqlite") as store:
        store.stamp(stamp_for(Options()))
        keep(store, page("https://a.org/1", 1))
    result = simhash(tmp_path, *command.split(), *COMMANDS[command], "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert set(json.loads(result.stdout)) == promised(command)
