import ast
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from simhash_pipeline.page import boilerplate, stamp
from tests.page.rules import COSTS, WITHOUT_RULES, rules, rules_digest

PAGE = Path(stamp.__file__).parent


def constants(path: Path) -> set[str]:
    """The names in capitals that a module's own lines assign."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found |= {name.id for name in names if isinstance(name, ast.Name)}
    return {name for name in found if name.isupper()}


def changed(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, re.Pattern):
        return re.compile(changed(value.pattern), value.flags)
    if isinstance(value, dict):
        (name, one), *rest = value.items()
        return {name: changed(one), **dict(rest)}
    if isinstance(value, (frozenset, set)):
        return type(value)(sorted(value)[1:])
    if isinstance(value, (list, tuple)):
        return type(value)([changed(value[0]), *value[1:]])
    if isinstance(value, struct.Struct):
        return struct.Struct(f"{value.format}H")
    if isinstance(value, float):
        return 3 * value + 1  # 1 is lost beside -3.14e100
    return value + type(value)(1)


def test_rules_move_no_fingerprint_silently() -> None:
    """Another digest is for CHANGELOG, under "Fingerprints change": stores made before refuse."""
    assert rules_digest() == stamp.RULES_DIGEST


@pytest.mark.parametrize("name", sorted(rules()))
def test_a_rule_that_changes_changes_the_stamp(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, constant = name.partition(".")
    path = f"simhash_pipeline.page.{module}.{constant}"
    monkeypatch.setattr(path, changed(rules()[name]))
    assert rules_digest() != stamp.RULES_DIGEST


def test_no_constant_is_forgotten() -> None:
    known = {
        f"{path.stem}.{name}"
        for path in PAGE.glob("*.py")
        if path.stem not in {"__init__", *WITHOUT_RULES}
        for name in constants(path) - COSTS
    }
    assert len(known) > 100
    assert known - rules().keys() == set()


def test_a_constant_that_is_no_number_or_text_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boilerplate, "_OF_ANOTHER_TYPE", object(), raising=False)
    with pytest.raises(TypeError, match="a rule is made of numbers and texts"):
        rules_digest()
