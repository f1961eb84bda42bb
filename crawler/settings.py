"""Settings of the demo project: an ordinary Scrapy project with the pipeline switched on."""

BOT_NAME = "simhash_demo"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"  # where the package is not installed

ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
DOWNLOAD_TIMEOUT = 60

ADDONS = {"simhash_pipeline.Addon": 500}
# All settings are in docs/reference/settings.md. The thresholds, here at their defaults:
SIMHASH_MATCH = "content"  # what must be near: "content", "structure", "both" or "either"
SIMHASH_CONTENT_DISTANCE = 3  # main texts are near within this many of 64 bits
SIMHASH_STRUCTURE_DISTANCE = 3  # DOM trees are near within this many of 64 bits
# Distance 3 and nothing else:
# SIMHASH_SECOND_LOOK = False  # the distances alone decide, on pages of any length
# SIMHASH_CONTENT_DISTANCE = 3  # of 64 bits, inclusive
# SIMHASH_MATCH = "content"  # or "structure", "both", "either"

EXTENSIONS = {"crawler.summary.Summary": 500}
# Breadth first: a story is met before its copies deeper down.
DEPTH_PRIORITY = 1
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

FEEDS = {
    "output/%(name)s.jsonl": {
        "format": "jsonlines",
        "fields": ["url", "title"],
        "overwrite": True,
    }
}
LOG_LEVEL = "INFO"
STATS_DUMP = False  # the summary has what matters
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
