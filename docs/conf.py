"""The documentation site in English: `make docs` writes it to output/docs, the Chinese into zh."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "simhash_pipeline"
author = "The simhash_pipeline developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "navigation"]
exclude_patterns = ["zh"]
html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_show_copyright = False
myst_heading_anchors = 3
myst_links_external_new_tab = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
