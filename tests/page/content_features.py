"""The weighted features of a text, which the fingerprint that is made of them no longer shows."""

from collections.abc import Mapping

from simhash_pipeline import Fingerprinter, Options


def content_features(options: Options, text: str) -> Mapping[str, float]:
    fingerprinter = Fingerprinter(options)
    return fingerprinter._features(fingerprinter._segment(text))
