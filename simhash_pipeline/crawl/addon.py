"""`ADDONS = {"simhash_pipeline.Addon": 500}`: one line enables everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from simhash_pipeline.crawl.follow import FollowMiddleware
from simhash_pipeline.crawl.pending import ResponseMiddleware
from simhash_pipeline.crawl.pipeline import SimhashPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PIPELINE_ORDER = 300
# Next to the engine, after all others: what passes here is scheduled, or becomes an item.
RESPONSES_ORDER = -999
FOLLOW_ORDER = -1000


class Addon:
    """Adds the pipeline and the spider middlewares that the settings don't name themselves.

    A subclass counts as named too: with two pipelines the second would find every page known.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        for setting, component, order in (
            ("ITEM_PIPELINES", SimhashPipeline, PIPELINE_ORDER),
            ("SPIDER_MIDDLEWARES", ResponseMiddleware, RESPONSES_ORDER),
            ("SPIDER_MIDDLEWARES", FollowMiddleware, FOLLOW_ORDER),
        ):
            named = map(load_object, settings.getdict(setting))
            if not any(isinstance(one, type) and issubclass(one, component) for one in named):
                settings.setdefault_in_component_priority_dict(setting, component, order)
