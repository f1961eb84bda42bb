from simhash_pipeline.page.weights import counted_ngrams


def test_content_features_are_counted_unigrams_and_bigrams() -> None:
    assert counted_ngrams(["a", "b", "a", "b"], (1, 2)) == {
        "a": 2,
        "b": 2,
        "a b": 2,
        "b a": 1,
    }


def test_a_text_shorter_than_the_n_gram_has_none() -> None:
    assert counted_ngrams(["a", "b"], (3,)) == {}
