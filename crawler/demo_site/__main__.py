"""`python -m crawler.demo_site`: the demo site for a browser, until Ctrl-C."""

import argparse
import sys
import threading

from crawler.demo_site.server import DEFAULT_PORT, HOST, DemoSite

EXIT_BUSY = 2


def main() -> int:
    """Serve until interrupted; 2 when the port is taken."""
    parser = argparse.ArgumentParser(
        prog="python -m crawler.demo_site", description="Serve the demo news site on loopback."
    )
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="0 for any free one (default: %(default)s)"
    )
    port: int = parser.parse_args().port
    try:
        with DemoSite(port) as site:
            print(f"{site.url}/  (Ctrl-C stops it)", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except (OSError, OverflowError) as error:
        print(f"cannot serve on {HOST}:{port}: {error}", file=sys.stderr)
        return EXIT_BUSY
    return 0


if __name__ == "__main__":
    sys.exit(main())
