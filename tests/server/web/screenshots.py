"""The pictures of the page that the guide shows: python -m tests.server.web.screenshots [FOLDER].

Everything in them has happened: real engines, the demo home, and a browser whose microphone hears a file.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from edgevox.server.web import static_files
from tests.server.web.browser import DESKTOP, PHONE, TOKEN, Chromium, Household, visiting

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "images"
ICON = Path(static_files.__file__).parent / "files" / "icon-192.png"
ROOM = "Kitchen"
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


def take(visitor: Chromium, folder: Path) -> None:
    visitor.size(*DESKTOP)
    visitor.colours("light")
    for words in ASKED:
        visitor.ask(words)
    visitor.does("localStorage.setItem('edgevox-room', given[0])", ROOM)
    visitor.open(visitor.browser.current_url)
    visitor.until_connected()
    visitor.one('[data-thing="light.floor_lamp"] .tap').click()
    visitor.answered(0)
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    visitor.until(lambda: len(visitor.turns()) > before)
    visitor.one("#microphone").click()
    visitor.answered(before).find_element("css selector", ".foot .link").click()
    visitor.until(lambda: visitor.state_of("light.kitchen") == "on")
    plan(visitor)
    visitor.one("#words").send_keys("Unlock the front door" + Keys.ENTER)
    yes = visitor.one(".answers .yes")
    both(visitor, folder, "talk", DESKTOP)
    both(visitor, folder, "talk", PHONE)
    yes.click()
    visitor.answered(before + 1)
    visitor.does("document.querySelector('[data-kind=alarm] .row .quiet').click()")
    show(visitor, "system")
    visitor.one(".voices li")
    visitor.does("for (const name of ['voice', 'rooms']) document.querySelector(`[data-group=${name}]`).open = true")
    for size in (DESKTOP, PHONE):
        for view in ("home", "plans", "timing", "tools", "system"):
            both(visitor, folder, view, size)


def plan(visitor: Chromium) -> None:
    """A timer, a reminder that is off, and an alarm."""
    form = "#plan-form"
    kind, text, add = (visitor.one(f"{form} {part}") for part in ("select", "input[type=text]", "button"))
    for what, how, time in (("timer", "number", "9"), ("alarm", "time", "06:30"), ("reminder", "time", "18:15")):
        kind.send_keys(what)
        field = f"{form} input[type={how}]"
        visitor.does("document.querySelector(given[0]).value = given[1]", field, time)
        text.send_keys({"timer": "pasta", "alarm": "gym", "reminder": "water the plants"}[what])
        add.click()
        visitor.one(f'[data-kind="{what}"]')
    visitor.one('[data-kind="reminder"] [role=switch]').click()
    visitor.one('[data-kind="reminder"].off')


def both(visitor: Chromium, folder: Path, view: str, size: tuple[int, int]) -> None:
    """The view in light and dark colours."""
    is_phone = size == PHONE
    visitor.size(*size, is_phone=is_phone, scale=1.5 if is_phone else 1)
    for scheme in ("light", "dark"):
        visitor.colours(scheme)
        show(visitor, view)
        keep(visitor, folder / f"page-{'phone' if is_phone else 'desktop'}-{view}-{scheme}.png")


def draw_icon(visitor: Chromium, url: str) -> None:
    """The icon for systems that read no SVG."""
    visitor.size(192, 192)
    visitor.open(f"{url}/page/icon.svg")
    keep(visitor, ICON)


def show(visitor: Chromium, view: str) -> None:
    visitor.browser.execute_script(f"document.querySelector('nav a[data-view={view}]').click()")
    visitor.browser.execute_script("document.getElementById('turns').scrollTop = 1e6")
    if view == "talk":
        visitor.browser.execute_script("document.getElementById('panels').scrollTop = 0")


def keep(visitor: Chromium, path: Path) -> None:
    # Two frames: what was asked for has been laid out and painted then.
    visitor.does("for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn))")
    path.write_bytes(base64.b64decode(visitor.command("Page.captureScreenshot", format="png")["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
