"""The compiled kernel, which may be left out: all else is in pyproject.toml.

SIMHASH_NO_NATIVE=1 leaves it out; SIMHASH_REQUIRE_NATIVE=1 fails where it can't be built.
SIMHASH_CFLAGS are further options for the compiler, as sanitizers.
"""

import os

from setuptools import Extension, setup

KERNEL = Extension(
    "simhash_pipeline.native._kernel",
    ["simhash_pipeline/native/_kernel.c"],
    extra_compile_args=os.environ.get("SIMHASH_CFLAGS", "").split(),
    extra_link_args=os.environ.get("SIMHASH_CFLAGS", "").split(),
    optional=os.environ.get("SIMHASH_REQUIRE_NATIVE") != "1",
)
LEFT_OUT = os.environ.get("SIMHASH_NO_NATIVE") == "1"
setup(ext_modules=[] if LEFT_OUT else [KERNEL])
