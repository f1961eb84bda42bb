"""`python -m simhash_pipeline <command>`, as `simhash <command>` and `scrapy simhash <command>`."""

from simhash_pipeline.cli.simhash import main

if __name__ == "__main__":
    main()
