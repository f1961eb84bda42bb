"""The documentation site in Chinese, with its own navigation and search."""

import sys
from pathlib import Path

import jieba  # cuts the pages for the site's search

jieba.setLogLevel("WARNING")
sys.path.insert(0, str(Path(__file__).parent.parent))

project = "simhash_pipeline"
author = "The simhash_pipeline developers"
language = "zh_CN"
extensions = ["myst_parser", "navigation"]
html_theme = "furo"
html_title = "simhash_pipeline 中文文档"
html_static_path = ["../_static"]
html_css_files = ["narrow.css"]
html_show_copyright = False
myst_heading_anchors = 3
myst_links_external_new_tab = False
