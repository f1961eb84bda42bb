"""The documentation site: `make docs` writes it to output/docs."""

project = "simhash_pipeline"
author = "The simhash_pipeline developers"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
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
