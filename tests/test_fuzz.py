"""A minute of what benchmarks/fuzz.py does for hours: no error but ours from input of any kind."""

import contextlib
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_targets import TARGETS, Targets


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
