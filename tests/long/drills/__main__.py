"""All drills: how many stories does a crash, a neighbour's death or a stuck page cost?

    python -m tests.long.drills [--times N]

Prints a table for each of feeds, neighbours, readers and servers.
"""

from __future__ import annotations

from tests.long import parser_of
from tests.long.drills import feeds, neighbours, readers, servers

STORIES = 400
NEIGHBOURS_STORIES = 150


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--times", type=int, default=13, help="crawls of each kind (13)")
    times = parser.parse_args().times
    print(feeds.table(times, STORIES), end="\n\n", flush=True)
    print(neighbours.table(times, NEIGHBOURS_STORIES), end="\n\n", flush=True)
    print(readers.table(times), end="\n\n", flush=True)
    print(servers.table(times, STORIES))


if __name__ == "__main__":
    main()
