"""The pictures of the guide: python -m tests.server.web.screenshots [FOLDER] [--scripted | --turns].

Everything in them has happened: real engines, the demo home, and a browser whose microphone hears a file.
With --scripted a model without weights answers: enough to look at the layout, in a minute. With --turns only the
views with turns are taken, with real engines.
"""

from __future__ import annotations

import base64
import io
import struct
import sys
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import av
import numpy as np
from selenium.webdriver.common.keys import Keys

from edgevox.core.files import Folders
from edgevox.models import open_store
from edgevox.server.web import static_files
from edgevox.speakers.ge2e import MODEL_ID as VOICE_ENCODER
from edgevox.testing import NullSinks
from tests.cli.command import edgevox, home_environment
from tests.dialogue.sounds import voiced
from tests.satellites.test_satellite_aloud import program
from tests.server.web.browser import DESKTOP, PHONE, TOKEN, Chromium, ServedAssistant, open_browser
from tests.server.web.conftest import SMALL_ENCODER, SMALL_VOICE
from tests.server.web.page_server import page_server
from tests.server.web.test_page import CHOOSE
from tests.server.web.test_walks import hear
from tests.server.websocket.harness import OWNER, VoiceServer
from tests.speakers.voices import voice

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "images"
FILES = Path(static_files.__file__).parent / "files"
# Systems give a maskable icon a shape of their own: its ground fills it.
ICONS = (("icon-192.png", 192, True), ("icon-512.png", 512, True), ("icon-maskable-512.png", 512, False))
OPEN = """
    for (const group of document.querySelectorAll("[data-group]")) group.open = group.dataset.group === given[0];
"""
# A timer of a second, as the test button of the tones sets it.
RING = """
    document.querySelector("nav a[data-view=system]").click();
    document.querySelector("[data-group=tones] .test button").click();
"""
SHOW_TIMING = "document.querySelector('#turn-list > .turn:last-child .foot .link').click()"
VIEWS = ("home", "plans", "timing", "tools")


@dataclass(frozen=True)
class Family:
    """What is said in a household, in its language, and the settings of its assistant."""

    language: str
    voice: str
    room: str
    asked: tuple[str, ...]
    spoken: str
    confirmed: str
    plans: tuple[tuple[str, str, str, str], ...]
    """kind, type of its field, time, name"""
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """of its lists, instead of those of the demo home"""

    @property
    def suffix(self) -> str:
        return "" if self.language == "en" else "-german"

    @property
    def variables(self) -> Mapping[str, str]:
        return {"EDGEVOX_STT__LANGUAGE": self.language, "EDGEVOX_TTS__VOICE": self.voice}


ENGLISH_FAMILY = Family(
    "en",
    "hibari-en_US-heart",
    "Kitchen",
    (
        "Is the front door locked?",
        "Set the living room light to forty percent",
        "Turn on the floor lamp",
        "What is the weather like?",
        "Turn off the TV",
    ),
    "Turn on the kitchen light.",
    "Unlock the front door",
    (
        ("timer", "number", "9", "pasta"),
        ("alarm", "time", "06:30", "gym"),
        ("reminder", "time", "18:15", "water the plants"),
    ),
)
GERMAN_FAMILY = Family(
    "de",
    "sano-de_DE",
    "Küche",
    (
        "Ist die Haustür abgeschlossen?",
        "Stell das Wohnzimmerlicht auf vierzig Prozent",
        "Schalte die Stehlampe ein",
        "Wie ist das Wetter?",
        "Mach den Fernseher aus",
    ),
    "Schalte das Küchenlicht ein.",
    "Schließ die Haustür auf",
    (
        ("timer", "number", "9", "Nudeln"),
        ("alarm", "time", "06:30", "Sport"),
        ("reminder", "time", "18:15", "Blumen gießen"),
    ),
    {"todo.shopping_list": ("Milch", "Brot"), "todo.tasks": ("Blumen gießen",)},
)
FAMILIES = (ENGLISH_FAMILY, GERMAN_FAMILY)


def main(folder: Path, *, is_whole: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as scratch:
            visit(family, folder, Path(scratch), is_whole=is_whole)
    compress(folder)


def visit(family: Family, folder: Path, scratch: Path, *, is_whole: bool) -> None:
    """Take the pictures of one household with the real engines; those of its turns only if not `is_whole`."""
    household = ServedAssistant(scratch / "household", variables=family.variables)
    try:
        household.start()
        microphone = scratch / "microphone.wav"
        household.speak(family.spoken, microphone)
        people = edgevox("people", "add", "Anna", "--from", microphone, env=household.environment)
        assert people.returncode == 0, people.stderr
        with (
            open_browser(microphone, scratch / "profile", {"LANGUAGE": family.language}) as visitor,
            NullSinks() as sound,
            ExitStack() as devices,
        ):
            if is_whole:
                devices.enter_context(program(satellite_environment(scratch, sound), *satellite_words(household)))
            visitor.language(family.language)
            if is_whole and family is ENGLISH_FAMILY:
                first_visit(visitor, household.url, folder)
            visitor.open(f"{household.url}/#token={TOKEN}")
            visitor.until(lambda: is_connected(visitor))
            visitor.ask(family.asked[0])
            write_lists(visitor, family)
            # An assistant that has run before has read its instructions.
            household.end()
            for record in (household.home / "state").glob("turns*"):
                record.unlink()
            household.start()
            visitor.open(household.url)
            visitor.until(lambda: is_connected(visitor))
            take(visitor, folder, family, is_whole=is_whole)
            if is_whole and family is ENGLISH_FAMILY:
                ringing(visitor, folder)
                draw_icons(visitor, household.url)
    finally:
        household.end()


def main_scripted(folder: Path) -> None:
    """The views of a server without engines; those with a turn's timing are left to `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as scratch:
            folders = Folders(*(Path(scratch) / name for name in ("config", "state", "models")))
            install_stand_ins(folders, family.voice)
            with (
                page_server(folders, {}, room=family.room, language=family.language, voice=family.voice) as behind,
                open_browser(None, Path(scratch) / "profile", {"LANGUAGE": family.language}) as visitor,
            ):
                visitor.language(family.language)
                if family is ENGLISH_FAMILY:
                    first_visit(visitor, behind.url, folder)
                take_scripted(visitor, behind, folder, family)
    compress(folder)


def take_scripted(visitor: Chromium, behind: VoiceServer, folder: Path, family: Family) -> None:
    assert behind.assistant.speakers is not None
    behind.assistant.speakers.people.add("Anna", [voice(1)])
    visitor.size(*DESKTOP)
    visitor.open(f"{behind.url}/#token={OWNER}")
    visitor.until(lambda: is_connected(visitor))
    write_lists(visitor, family)
    behind.records.clear()
    for words in family.asked:
        visitor.ask(words)
    behind.records[:] = [replace(record, speaker="Anna", room=family.room) for record in behind.records]
    visitor.open(behind.url)
    visitor.until(lambda: is_connected(visitor))
    plan(visitor, family)
    for size in (DESKTOP, PHONE):
        for view in ("talk", *VIEWS):
            both(visitor, folder, view, size, family.suffix)
        settings(visitor, folder, size, family.suffix)
    if family is ENGLISH_FAMILY:
        ringing(visitor, folder)
        details(visitor, folder)


def details(visitor: Chromium, folder: Path) -> None:
    """What is opened within the views, on a phone."""

    def keep_as(name: str) -> None:
        keep(visitor, folder / f"page-phone-{name}-light.png")

    visitor.size(*PHONE, is_phone=True, scale=1.5)
    visitor.colours("light")
    hear(visitor, voiced(3.0), is_looped=True)
    for thing in ("light.floor_lamp", "light.floor_lamp", "lock.front_door"):
        show(visitor, "home")
        before = len(visitor.turns())
        visitor.one(f'[data-thing="{thing}"] .tap').click()
        if thing.startswith("light"):
            visitor.answered(before)
    visitor.one(".asked .no")
    keep_as("question")
    visitor.press(Keys.ENTER)
    visitor.answered(before)
    visitor.one('[data-thing="light.floor_lamp"] .more').click()
    visitor.one('[data-thing="light.floor_lamp"] .states time')
    visitor.browser.execute_script("document.querySelector('[data-thing=\"light.floor_lamp\"]').scrollIntoView()")
    keep_as("changes")
    show(visitor, "talk")
    visitor.does("[...document.querySelectorAll('.call .raw')].at(-2).open = true")
    keep_as("call")
    visitor.one("#history-search").send_keys("light")
    visitor.until(lambda: "found" in visitor.text("#history-note"))
    keep_as("search")
    visitor.one("#history-search").clear()
    show(visitor, "plans")
    visitor.one('[data-kind="alarm"] .row .quiet').click()
    keep_as("alarm")
    show(visitor, "system")
    visitor.does(OPEN, "microphone")
    visitor.one('[data-group="microphone"] .test button').click()
    visitor.until(lambda: visitor.does("return document.querySelector('.test meter')?.value > 0.1"))
    visitor.browser.execute_script("document.querySelector('.test meter').scrollIntoView({ block: 'center' })")
    keep_as("microphone")


def is_connected(visitor: Chromium) -> bool:
    return visitor.text("#connection-words") in ("Connected", "Verbunden") and visitor.state_of("light.kitchen") != ""


def first_visit(visitor: Chromium, url: str, folder: Path) -> None:
    """The page of a browser without a token."""
    visitor.open(url)
    visitor.until(lambda: visitor.one("#key").is_displayed())
    both(visitor, folder, "first-visit", PHONE, view="talk")
    both(visitor, folder, "first-visit", DESKTOP, view="talk")


def ringing(visitor: Chromium, folder: Path) -> None:
    """A timer that rings, on the home."""
    visitor.does(RING)
    visitor.until(lambda: visitor.one("#ring").is_displayed())
    for size in (PHONE, DESKTOP):
        both(visitor, folder, "ring", size, view="home")
    visitor.one("#ring .stop").click()


def install_stand_ins(folders: Folders, voice_id: str) -> None:
    """Files in place of the voice encoder, so that the page offers to add people, and of the voice in use."""
    entry = open_store(folders).manifest.find(voice_id)
    assert entry is not None
    facts = f'engine = "{entry.engine}"\nlanguage = "{entry.language}"\nlicence = "{entry.licence}"'
    stand_in = SMALL_VOICE.replace("small-voice", voice_id).replace('licence = "MIT"', facts)
    folders.config.mkdir(parents=True)
    (folders.config / "models.toml").write_text(
        SMALL_ENCODER + stand_in.replace("bytes_about = 1000", f"bytes_about = {entry.size_bytes}")
    )
    open_store(folders).ensure([VOICE_ENCODER, voice_id], lambda _progress: None)


def compress(folder: Path) -> None:
    for picture in folder.glob("page-*.png"):
        picture.write_bytes(with_palette(picture.read_bytes()))


def take(visitor: Chromium, folder: Path, family: Family, *, is_whole: bool) -> None:
    visitor.size(*DESKTOP)
    visitor.colours("light")
    for words in family.asked:
        visitor.ask(words)
    visitor.does("localStorage.setItem('edgevox-room', given[0])", family.room)
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: is_connected(visitor))
    visitor.one('[data-thing="light.floor_lamp"] .tap').click()
    visitor.answered(0)
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    visitor.until(lambda: len(visitor.turns()) > before)
    visitor.one("#microphone").click()
    visitor.answered(before)
    visitor.does(SHOW_TIMING)
    plan(visitor, family)
    visitor.one("#words").send_keys(family.confirmed + Keys.ENTER)
    visitor.one(".answers .yes")
    both(visitor, folder, "talk", DESKTOP, family.suffix)
    both(visitor, folder, "talk", PHONE, family.suffix)
    if visitor.browser.find_elements("css selector", ".answers .yes"):  # a slow machine takes longer than the question
        visitor.one(".answers .yes").click()
    visitor.until(lambda: visitor.turns()[-1].get_attribute("data-outcome"))
    visitor.does("document.querySelector('[data-kind=alarm] .row .quiet').click()")
    for size in (DESKTOP, PHONE):
        for view in VIEWS if is_whole else ("timing",):
            both(visitor, folder, view, size, family.suffix)
        if is_whole:
            settings(visitor, folder, size, family.suffix)


def settings(visitor: Chromium, folder: Path, size: tuple[int, int], suffix: str = "") -> None:
    """The system view, and its groups one by one."""
    show(visitor, "system")
    visitor.one(".voices li")
    visitor.one("[data-satellite]")
    both(visitor, folder, "system", size, suffix)
    for group in ("voice", "people", "rooms"):
        visitor.does(OPEN, group)
        both(visitor, folder, group, size, suffix, view="system")
    visitor.does(OPEN, "")


def satellite_environment(scratch: Path, sound: NullSinks) -> dict[str, str]:
    return home_environment(scratch / "satellite") | sound.environment | {"EDGEVOX_TOKEN": TOKEN}


def satellite_words(household: ServedAssistant) -> tuple[str, ...]:
    return ("satellite", "--server", household.url, "--room", "Bedroom", "--name", "nightstand")


def write_lists(visitor: Chromium, family: Family) -> None:
    for list_id, items in family.items.items():
        place = f'[data-list="{list_id}"]'
        visitor.one(f"{place} .item")
        visitor.does("for (const one of document.querySelectorAll(given[0])) one.click()", f"{place} .item button")
        until_listed(visitor, place, "")
        for count in range(len(items)):
            visitor.one(f"{place} form input").send_keys(items[count] + Keys.ENTER)
            until_listed(visitor, place, "".join(items[: count + 1]))


def until_listed(visitor: Chromium, place: str, texts: str) -> None:
    listed = "return [...document.querySelectorAll(given[0])].map((one) => one.textContent).join('')"
    visitor.until(lambda: visitor.does(listed, f"{place} .item label") == texts)


def plan(visitor: Chromium, family: Family) -> None:
    """A timer, a reminder that is off, and an alarm."""
    form = "#plan-form"
    text, add = (visitor.one(f"{form} {part}") for part in ("input[type=text]", "button"))
    for kind, how, time, name in family.plans:
        visitor.does(CHOOSE, f"{form} select", kind)
        visitor.does("document.querySelector(given[0]).value = given[1]", f"{form} input[type={how}]", time)
        text.send_keys(name)
        add.click()
        visitor.one(f'[data-kind="{kind}"]')
    visitor.one('[data-kind="reminder"] [role=switch]').click()
    visitor.one('[data-kind="reminder"].off')


def both(
    visitor: Chromium, folder: Path, name: str, size: tuple[int, int], suffix: str = "", *, view: str = ""
) -> None:
    """The view in light and dark colours; in German only in one of them."""
    is_phone = size == PHONE
    visitor.size(*size, is_phone=is_phone, scale=1.5 if is_phone else 1)
    for scheme in ("light", "dark") if not suffix else ("light",) if is_phone else ("dark",):
        visitor.colours(scheme)
        show(visitor, view or name)
        if view == "system":
            visitor.browser.execute_script(f"document.querySelector('[data-group={name}]').scrollIntoView()")
        keep(visitor, folder / f"page-{'phone' if is_phone else 'desktop'}-{name}-{scheme}{suffix}.png")


def draw_icons(visitor: Chromium, url: str) -> None:
    """The icon for systems that read no SVG."""
    visitor.command("Emulation.setDefaultBackgroundColorOverride", color={"r": 0, "g": 0, "b": 0, "a": 0})
    for name, side, is_rounded in ICONS:
        visitor.size(side, side)
        visitor.open(f"{url}/page/icon.svg")
        if not is_rounded:
            visitor.browser.execute_script("document.querySelector('rect').removeAttribute('rx')")
        keep(visitor, FILES / name)


def show(visitor: Chromium, view: str) -> None:
    visitor.browser.execute_script(f"document.querySelector('nav a[data-view={view}]').click()")
    visitor.browser.execute_script("document.getElementById('turns').scrollTop = 1e6")
    if view == "talk":
        visitor.browser.execute_script("document.getElementById('panels').scrollTop = 0")
    visitor.browser.execute_script("document.querySelector('.answers .no')?.focus()")


def keep(visitor: Chromium, path: Path) -> None:
    # Two frames: what was asked for has been laid out and painted then.
    visitor.does("for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn))")
    picture = base64.b64decode(visitor.command("Page.captureScreenshot", format="png")["data"])
    path.write_bytes(picture)


def with_palette(png: bytes) -> bytes:
    """The picture with at most 256 colours, which is smaller and looks the same: rare colours become similar ones."""
    with av.open(io.BytesIO(png), mode="r") as file:
        pixels = next(file.decode(video=0)).to_ndarray(format="rgb24")
    height, width, _ = pixels.shape
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    numbers, index, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=1).astype(np.uint8)
    palette = colours[np.argsort(counts)[::-1][:256]]
    distances = ((colours[:, None].astype(int) - palette[None].astype(int)) ** 2).sum(axis=2)
    rows = distances.argmin(axis=1).astype(np.uint8)[index.reshape(height, width)]
    lines = np.hstack((np.zeros((height, 1), np.uint8), rows)).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = {b"IHDR": header, b"PLTE": palette.tobytes(), b"IDAT": zlib.compress(lines, 9), b"IEND": b""}
    framed = (
        struct.pack(">I", len(data)) + (kind + data) + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    target = Path(given[0]) if given else FOLDER
    if "--scripted" in sys.argv:
        main_scripted(target)
    else:
        main(target, is_whole="--turns" not in sys.argv)
