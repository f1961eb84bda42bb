"""A small bilingual news site on loopback, whose right answers are written down in answers.csv."""

from crawler.demo_site.answers import Answer, read_answers
from crawler.demo_site.server import DemoSite

__all__ = ["Answer", "DemoSite", "read_answers"]
