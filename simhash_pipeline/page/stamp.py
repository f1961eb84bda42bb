"""What fingerprints depend on: options, files, and the rules of this room; stores refuse others."""

import dataclasses
import hashlib
import json
from typing import Any

from simhash_pipeline.options import Options, read_file
from simhash_pipeline.page import segment

# Increased where the same page and options give another fingerprint by other code.
FINGERPRINT_VERSION = 1
# Of all numbers, word lists and tables of this room; tests/page/test_stamp.py computes it.
RULES_DIGEST = "ce8038808b5e56a6"


def stamp_for(options: Options) -> dict[str, Any]:
    """The options that fingerprints depend on, as JSON values, and a digest of the rules.

    A file is represented by a digest of its content, OpenCC by one of its table. OptionsError if
    they can't be read.
    """
    made = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(options)
        if field.metadata["makes"]
    }
    files = {"stop_words": options.stop_words, "user_dict": options.user_dict}
    made |= {
        name: read_file(name, path, lambda file: _digest(file.read_bytes()))
        for name, path in files.items()
        if path is not None
    }
    if options.to_simplified:
        made["opencc_table"] = _digest(json.dumps(segment.simplified(), sort_keys=True).encode())
    versions = {"fingerprint_version": FINGERPRINT_VERSION, "rules": RULES_DIGEST}
    return {**versions, **json.loads(json.dumps(made))}


def _digest(data: bytes) -> str:
    return f"of digest {hashlib.sha256(data).hexdigest()[:16]}"
