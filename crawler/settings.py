"""Settings of the demo project: an ordinary Scrapy project with the pipeline switched on."""

BOT_NAME = "simhash_demo"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"  # where the package is not installed

ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
DOWNLOAD_TIMEOUT = 60

ADDONS = {"simhash_pipeline.Addon": 500}
# What may be set, with its defaults, is listed in docs/reference/settings.md. The usual ones:
# SIMHASH_CONTENT_DISTANCE = 3
# SIMHASH_MATCH = "content"
# SIMHASH_DRY_RUN = True

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
