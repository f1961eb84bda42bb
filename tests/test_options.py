import dataclasses
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from simhash_pipeline import Options, OptionsError
from simhash_pipeline.options import PRESETS, age_secs
from simhash_pipeline.page.segment import simplified
from simhash_pipeline.page.stamp import stamp_for


def test_every_default_follows_its_own_rule() -> None:
    assert Options() == Options(**dataclasses.asdict(Options()))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("content_distance", "3", 3),
        ("sketch_distance", "12", 12),
        ("dry_run", "True", True),
        ("dry_run", "0", False),
        ("ngrams", "1,2", (1, 2)),
        ("ngrams", "(3,)", (3,)),
        ("drop_log", "none", None),
        ("drop_log", Path("logs/drops.jsonl"), str(Path("logs/drops.jsonl"))),
        ("min_similarity", "0.6", 0.6),
        ("expire_after", "86400", 86_400),
        ("expire_after", "30d", 30 * 86_400),
        ("expire_after", 60, 60),
    ],
)
def test_strings_from_a_command_line_and_paths_are_read(
    name: str, text: object, value: Any
) -> None:
    given: dict[str, Any] = {name: text}
    assert getattr(Options(**given), name) == value


def test_without_a_second_look_its_own_settings_do_nothing() -> None:
    limits = {"SKETCH_DISTANCE": 5, "MIN_SIMILARITY": 0.9, "MIN_TOKENS": 80}
    given = {"SECOND_LOOK": "False", **limits}
    options = Options.from_settings({f"SIMHASH_{name}": value for name, value in given.items()})
    assert (options.sketch_distance, options.min_similarity, options.min_tokens) == (128, 0, 1)
    assert dataclasses.replace(options, match="both").sketch_distance == 128


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content_distance", 9),
        ("content_distance", -1),
        ("content_distance", 3.7),
        ("content_distance", True),
        ("content_distance", "three"),
        ("content_distance", None),
        ("structure_distance", 9),
        ("sketch_distance", 129),
        ("sketch_distance", None),
        ("match", "contents"),
        ("min_tokens", 0),
        ("ngrams", ()),
        ("ngrams", "one"),
        ("ngrams", [9]),
        ("ngrams", [1.5]),
        ("min_similarity", -0.1),
        ("min_similarity", 1.1),
        ("dry_run", "maybe"),
        ("html_field", ""),
        ("html_field", 3),
        ("namespace", "not UTF-8: \udcff"),
        ("added_fields", None),
        ("added_fields", "verdict"),
        ("added_fields", {"verdicts": "near_duplicate"}),
        ("added_fields", {"verdict": ""}),
        ("added_fields", {"verdict": None}),
        ("added_fields", '{"verdict": "note", "text": "note"}'),
        ("store", ""),
        ("store", "Auto"),
        ("store", "memory"),
        ("scope", "page"),
        ("preset", "mfondue"),
        ("preset", "mfonda:0.6"),
        ("preset", "dom-decay:1"),
        ("preset", "dom-decay:nan"),
        ("segmenter", "word"),
        ("weights", "tf idf"),
        ("top_n", 0),
        ("extractor", "trafilatura"),
        ("expire_after", 0),
        ("expire_after", "-1d"),
        ("expire_after", "3 weeks"),
        ("expire_after", 1.5),
    ],
)
def test_a_bad_value_is_named_with_its_rule(name: str, value: Any) -> None:
    with pytest.raises(OptionsError) as caught:
        Options(**{name: value})
    (fault,) = caught.value.faults
    assert fault.startswith(f"SIMHASH_{name.upper()} is {value!r}; it must be ")


def test_all_faults_are_named_together() -> None:
    settings = {"SIMHASH_CONTENT_DISTANCE": 99, "SIMHASH_MATCH": "x", "SIMHASH_MACTH": "both"}
    with pytest.raises(OptionsError) as caught:
        Options.from_settings(settings)
    assert [fault.split()[0] for fault in caught.value.faults] == [
        "SIMHASH_MACTH",
        "SIMHASH_MATCH",
        "SIMHASH_CONTENT_DISTANCE",
    ]
    assert "did you mean SIMHASH_MATCH?" in str(caught.value)


@pytest.mark.parametrize(("text", "secs"), [("61s", 61), ("1m", 60), ("2w", 1_209_600)])
def test_an_age_is_read_in_its_unit(text: str, secs: int) -> None:
    assert age_secs(text) == secs


def test_a_part_of_a_name_suggests_the_setting() -> None:
    with pytest.raises(OptionsError, match=r"did you mean SIMHASH_CONTENT_DISTANCE\?"):
        Options.from_settings({"SIMHASH_DISTANCE": 3})


def test_a_setting_in_small_letters_is_none() -> None:
    """Scrapy takes it on a command line, and a dry run would drop."""
    with pytest.raises(OptionsError, match=r"^simhash_dry_run is not .* mean SIMHASH_DRY_RUN\?$"):
        Options.from_settings({"simhash_dry_run": "1"})


def test_what_is_added_to_items_is_a_dict_and_on_a_command_line_json() -> None:
    given = Options(added_fields={"verdict": "note", "text": "body"})
    as_json = {"SIMHASH_ADDED_FIELDS": '{"verdict": "note", "text": "body"}'}
    assert given == Options.from_settings(as_json)
    assert {given: 1}[given] == 1  # processes keep what they made by their options
    with pytest.raises(OptionsError) as caught:
        Options(added_fields={"title": "title"})
    (fault,) = caught.value.faults
    rule = "a dict from verdict, address or text to the name of an item field, each to another"
    assert fault == f"SIMHASH_ADDED_FIELDS is {{'title': 'title'}}; it must be {rule}"


def test_settings_of_others_are_left_alone() -> None:
    settings = Settings({"BOT_NAME": "x", "SIMHASH_MIN_TOKENS": "20"})
    assert Options.from_settings(settings) == Options(min_tokens=20)


def test_the_stamp_holds_what_makes_fingerprints_and_nothing_else() -> None:
    others = Options(content_distance=6, min_tokens=9, store="memory:")
    assert stamp_for(Options()) == stamp_for(others)
    assert stamp_for(Options()) != stamp_for(Options(ngrams=(3,)))


def test_another_table_of_simplified_characters_is_another_stamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = Options(to_simplified=True)
    before, without = stamp_for(options), stamp_for(Options())
    assert stamp_for(options) == before
    assert before["to_simplified"] is True  # as a user reads it where a store refuses it
    monkeypatch.setitem(simplified(), ord("霧"), "霧")
    assert stamp_for(options) != before
    assert stamp_for(Options()) == without


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (
            {"weights": "jieba-tfidf"},
            "SIMHASH_NGRAMS is (1, 2); with SIMHASH_WEIGHTS jieba-tfidf it must be (1,)",
        ),
        (
            {"item_fields": "a, -x"},
            (
                "SIMHASH_ITEM_FIELDS is ('-x', 'a'); a name without a sign leaves out all others, "
                "so none may have a minus"
            ),
        ),
    ],
)
def test_options_that_do_not_go_together_are_named(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(OptionsError) as caught:
        Options(**given)
    assert caught.value.faults == [fault]


def test_what_is_set_goes_before_the_preset_even_when_it_is_the_default() -> None:
    assert Options(preset="jiebar").top_n == 5
    assert Options(preset="jiebar", top_n=None).top_n is None
    assert (Options().hash, Options(preset="mfonda").hash) == ("murmur3", "fnv1")
    settings = {"SIMHASH_PRESET": "jiebar", "SIMHASH_TOP_N": "2"}
    assert Options.from_settings(settings) == Options(preset="jiebar", top_n=2)


def test_a_preset_is_stamped() -> None:
    presets = [None, *PRESETS]
    assert len({str(stamp_for(Options(preset=preset))) for preset in presets}) == len(presets)


def test_a_copy_with_another_value_keeps_the_rest_of_the_preset() -> None:
    copy = dataclasses.replace(Options(preset="mfonda"), content_distance=5)
    assert copy == Options(preset="mfonda", content_distance=5)


def test_a_path_that_can_be_none_is_a_fault_of_the_options() -> None:
    with pytest.raises(OptionsError, match=r"SIMHASH_STOP_WORDS is .*it can't be read"):
        stamp_for(Options(stop_words="a\0b"))
