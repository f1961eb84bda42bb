"""The tables of a store's SQLite file.

In the sqlite3 shell fingerprints are signed 64-bit integers (blobs when 128 bits wide), and the
view `page_hex` shows them in hexadecimal, and times in words.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x73696D68  # "simh" in bytes 68-71 of the file
FORMAT = 1  # in bytes 60-63

# Ids only grow, and none is given twice: `last_id` in `meta` remembers the newest when its page
# goes. (AUTOINCREMENT would do it at 10 us a page, for it writes another block each time.)
#
# No b-tree finds URLs or content: each would cost 20 us and 14 to 20 bytes a page. A process has
# them in memory, and opens by `segment`, where they lie packed, 12 bytes a page.
PAGE = """CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url_hash INTEGER NOT NULL,
    url TEXT NOT NULL,
    namespace TEXT NOT NULL,
    site_id INTEGER NOT NULL REFERENCES site,
    content INTEGER,
    structure INTEGER,
    sketch BLOB,
    digest BLOB,
    first_seen REAL NOT NULL,
    seen_at REAL,
    run INTEGER,
    visible INTEGER,
    sample BLOB
)"""
# seen_at is NULL while it is first_seen. A page is of a run until its item is safe: see
# tentative.py. `sample` stands last: SQLite reads a row only up to the column it is asked for.
SITE = "CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
META = "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
BESIDES_PAGE = (
    """CREATE TRIGGER newest_page_removed AFTER DELETE ON page
        WHEN OLD.id > ifnull((SELECT max(id) FROM page), 0)
    BEGIN
        INSERT INTO meta (name, value) VALUES ('last_id', OLD.id)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE CAST(value AS INTEGER) < OLD.id;
    END""",
    "CREATE INDEX page_by_digest ON page (namespace, digest) WHERE digest IS NOT NULL",
    """CREATE TABLE segment (
        number INTEGER PRIMARY KEY,
        newest_id INTEGER NOT NULL,
        pages BLOB NOT NULL,
        url_hashes BLOB NOT NULL,
        with_content BLOB NOT NULL,
        content BLOB NOT NULL
    )""",
    """CREATE VIEW page_hex AS SELECT
        page.id, namespace, url, name AS site,
        CASE typeof(content) WHEN 'integer' THEN printf('%016x', content)
            WHEN 'blob' THEN lower(hex(content)) END AS content,
        CASE typeof(structure) WHEN 'integer' THEN printf('%016x', structure)
            WHEN 'blob' THEN lower(hex(structure)) END AS structure,
        nullif(lower(hex(sketch)), '') AS sketch,
        nullif(lower(hex(digest)), '') AS digest,
        datetime(first_seen, 'unixepoch') AS first_seen,
        datetime(ifnull(seen_at, first_seen), 'unixepoch') AS seen_at
    FROM page JOIN site ON site.id = site_id""",
)

# A run's number is never given twice.
RUN = "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, after_page INTEGER NOT NULL)"

# The blocks that stand on many kept pages of a site, 4 bytes each: see own_text.py.
FURNITURE = """CREATE TABLE furniture (
    namespace TEXT NOT NULL,
    site TEXT NOT NULL,
    blocks BLOB NOT NULL,
    PRIMARY KEY (namespace, site)
) WITHOUT ROWID"""

# Texts of judged pages, where they are to be kept. One of a page that was dropped has no row in
# `page`. A page's text goes with it, whoever removes it: also tentative pages of a dead run.
TEXTS = (
    """CREATE TABLE text (
        namespace TEXT NOT NULL,
        url TEXT NOT NULL,
        packed BLOB NOT NULL,
        kept_at REAL NOT NULL,
        PRIMARY KEY (namespace, url)
    )""",
    """CREATE TRIGGER text_goes_with_page AFTER DELETE ON page
    BEGIN
        DELETE FROM text WHERE namespace = OLD.namespace AND url = OLD.url;
    END""",
)


def make(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty file; whoever calls it holds the transaction."""
    for statement in (PAGE, SITE, META, *BESIDES_PAGE, RUN, FURNITURE, *TEXTS):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def stamp(connection: sqlite3.Connection) -> dict[str, object] | None:
    """The options that the file's fingerprints were made with; None before they are declared."""
    rows = connection.execute("SELECT value FROM meta WHERE name = 'made_with'")
    return next((json.loads(value) for (value,) in rows.fetchall()), None)
