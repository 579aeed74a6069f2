"""The pictures of the page that the guide shows: python -m tests.server.web.screenshots [FOLDER].

Everything in them has happened: real engines, the demo home, and a browser whose microphone hears a file.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from edgevox.server.web import static_files
from tests.server.web.browser import DESKTOP, PHONE, TOKEN, Household, Visitor, visiting

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "images"
ICON = Path(static_files.__file__).parent / "files" / "icon-192.png"
ASKED = (
    "Is the front door locked?",
    "Set the living room light to forty percent",
    "Turn on the floor lamp",
    "What is the weather like?",
    "Turn off the TV",
)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        household = Household(Path(scratch) / "household")
        try:
            household.start()
            microphone = Path(scratch) / "microphone.wav"
            household.speak("Turn on the kitchen light.", microphone)
            with visiting(microphone, Path(scratch) / "profile") as visitor:
                visitor.open(f"{household.url}/#token={TOKEN}")
                visitor.until_connected()
                visitor.ask("What time is it?")
                # An assistant that has run before has read its instructions.
                household.end()
                for record in (household.home / "state").glob("turns*"):
                    record.unlink()
                household.start()
                visitor.open(household.url)
                visitor.until_connected()
                take(visitor, folder)
                draw_icon(visitor, household.url)
        finally:
            household.end()


def take(visitor: Visitor, folder: Path) -> None:
    visitor.size(*DESKTOP)
    visitor.colours("light")
    for words in ASKED:
        visitor.ask(words)
    visitor.one('[data-thing="light.floor_lamp"] .tap').click()
    visitor.answered(len(ASKED))
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    visitor.until(lambda: len(visitor.turns()) > before)
    visitor.one("#microphone").click()
    visitor.answered(before).find_element("css selector", ".foot .link").click()
    visitor.until(lambda: visitor.state_of("light.kitchen") == "on")
    visitor.one("#words").send_keys("Unlock the front door\n")
    yes = visitor.one(".answers .yes")
    keep(visitor, folder / "page-desktop-light.png")
    visitor.size(*PHONE, is_phone=True, scale=1.5)
    show(visitor, "talk")
    keep(visitor, folder / "page-phone-light.png")
    visitor.colours("dark")
    show(visitor, "home")
    keep(visitor, folder / "page-phone-home-dark.png")
    show(visitor, "talk")
    yes.click()
    visitor.answered(before + 1)
    show(visitor, "timing")
    keep(visitor, folder / "page-phone-timing-dark.png")
    visitor.colours("light")
    show(visitor, "plans")
    visitor.one("#plan-form input[type=number]").send_keys("9")
    visitor.one("#plan-form input[type=text]").send_keys("pasta\n")
    visitor.one('[data-kind="timer"]')
    keep(visitor, folder / "page-phone-plans-light.png")
    visitor.colours("dark")
    visitor.size(*DESKTOP)
    show(visitor, "timing")
    keep(visitor, folder / "page-desktop-dark.png")
    show(visitor, "system")
    keep(visitor, folder / "page-desktop-system-dark.png")


def draw_icon(visitor: Visitor, url: str) -> None:
    """The icon for systems that read no SVG."""
    visitor.size(192, 192)
    visitor.open(f"{url}/page/icon.svg")
    keep(visitor, ICON)


def show(visitor: Visitor, view: str) -> None:
    visitor.browser.execute_script(f"document.querySelector('nav a[data-view={view}]').click()")
    visitor.browser.execute_script("document.getElementById('turns').scrollTop = 1e6")


def keep(visitor: Visitor, path: Path) -> None:
    # Two frames: what was asked for has been laid out and painted then.
    visitor.does("for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn))")
    path.write_bytes(base64.b64decode(visitor.command("Page.captureScreenshot", format="png")["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
