"""Some seconds of what tests/long does for hours."""

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simhash_pipeline import native
from tests.long import soak, wrong_calls
from tests.long.fuzz_targets import TARGETS, Targets


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Targets]:
    with contextlib.closing(Targets(tmp_path_factory.mktemp("fuzz"))) as opened:
        yield opened


CHEAP = [target for target in TARGETS if target != "store_files"]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
@pytest.mark.parametrize("target", CHEAP)
def test_no_input_leads_to_an_error_that_is_not_ours(
    targets: Targets, target: str, chance: random.Random
) -> None:
    getattr(targets, target)(chance)


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_inputs_of_the_long_run_are_harmless(targets: Targets, target: str) -> None:
    for number in range(100 if target in CHEAP else 40):
        getattr(targets, target)(random.Random(number))


@pytest.mark.ci
def test_a_soak_finds_a_verdict_that_is_not_the_right_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = 60
    soak.soak(tmp_path, pages, hours=0, kill_every=0)
    assert soak.check(tmp_path, pages, killed=False)
    verdicts = tmp_path / "verdicts.jsonl"
    lines = [json.loads(line) for line in verdicts.read_text().splitlines()]
    assert sum(line["dropped"] for line in lines) >= pages / 5 - 2
    lines[-1]["dropped"] = not lines[-1]["dropped"]
    verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert not soak.check(tmp_path, pages, killed=False)
    assert "1 verdicts differ from those made again" in capsys.readouterr().out


@pytest.mark.skipif(native.kernel is None, reason="no kernel is built")
def test_a_wrong_call_of_the_kernel_raises_and_leaves_nothing_behind() -> None:
    """In a process of its own, which a crash would end."""
    command = [sys.executable, "-m", wrong_calls.__name__, "--calls", "500"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "500 wrong calls: 0 faults\n"), done.stderr
