"""First paint and weight of the web page in Chromium: `python -m benchmarks.page --json FILE`.

A server with scripted engines and the demo home, on the same machine as the browser. Each visit is a new load: with an
empty cache, and with the files of the visit before, which the server is asked about. First contentful paint counts
from the start of the navigation. Transferred is what Lighthouse counts as the weight: the bodies as they are sent.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from benchmarks.first_audio import show
from benchmarks.hardware import describe
from edgevox.core.files import Folders
from tests.server.web.browser import DESKTOP, PHONE, VIEWS, Chromium, open_browser
from tests.server.web.page_server import page_server
from tests.server.websocket.harness import OWNER

BAR_MS, BAR_BYTES = 1_000, 150_000
BLANK = "data:text/html,<p>blank</p>"


def paints(visitor: Chromium, url: str, visits: int, *, is_cached: bool) -> dict[str, object]:
    """First paints of several visits."""
    visitor.command("Network.setCacheDisabled", cacheDisabled=not is_cached)
    visitor.paint_ms(url)  # the browser itself is warm then
    times_ms = sorted(visitor.paint_ms(url) for _visit in range(visits))
    return {"median_ms": round(statistics.median(times_ms)), "slowest_ms": round(times_ms[-1]), "visits": visits}


def weight(visitor: Chromium, url: str) -> dict[str, object]:
    """What a visit loads, and what it loads with a walk through all views."""
    visitor.command("Network.setCacheDisabled", cacheDisabled=True)
    visitor.open("about:blank")
    visitor.open(url)
    visitor.until(lambda: visitor.state_of("light.kitchen"))
    visit = visitor.loaded()
    for view in VIEWS:
        visitor.one(f'nav a[data-view="{view}"]').click()
    visitor.one("[data-voice]")
    walk = visitor.loaded()
    return {
        name: {"transferred_bytes": sent, "uncompressed_bytes": whole, "files": files}
        for name, (sent, whole, files) in (("visit", visit), ("all_views", walk))
    }


def measure(folder: Path, visits: int) -> dict[str, object]:
    folders = Folders(*(folder / name for name in ("config", "state", "models")))
    with page_server(folders, {}) as behind, open_browser(None, folder / "profile") as visitor:
        url = f"{behind.url}/"
        visitor.open(f"{url}#token={OWNER}")
        visitor.until_connected()
        visitor.command("Network.enable")
        visitor.command("Network.setBypassServiceWorker", bypass=True)
        result: dict[str, object] = {
            "hardware": describe(),
            "browser": f"Chromium {visitor.browser.capabilities['browserVersion']}",
            "blank_page": paints(visitor, BLANK, visits, is_cached=True),
        }
        for name, size in (("desktop", DESKTOP), ("phone", PHONE)):
            visitor.size(*size, is_phone=size == PHONE)
            result[name] = {
                "empty_cache": paints(visitor, url, visits, is_cached=False),
                "files_known": paints(visitor, url, visits, is_cached=True),
            }
        for language in ("en", "de"):
            visitor.language(language)
            result[f"weight_{language}"] = weight(visitor, url)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="First paint and weight of the web page.")
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--json", type=Path, help="file for the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(Path(scratch), args.visits)
    show(result, f"bars: first paint {BAR_MS} ms, a visit transfers {BAR_BYTES:,} bytes", args.json)


if __name__ == "__main__":
    main()
