"""The page by touch and by keys, in a real Chromium: the home, plans, questions, what was said, and both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from edgevox.core.files import Folders
from edgevox.server.web.static_files import page_files
from tests.server.web.browser import DESKTOP, PHONE, Visitor, axe, visiting
from tests.server.web.page_server import page_server
from tests.server.websocket.harness import OWNER, Lobby

NARROWEST = 320
VIEWS = ("talk", "home", "plans", "timing", "tools", "system")
SLIDE = """
    const slider = document.querySelector(given[0]);
    slider.value = given[1];
    slider.dispatchEvent(new Event("input"));
    slider.dispatchEvent(new Event("change"));
"""
KEYS = """
    const { TEXTS } = await import("/page/texts.js");
    return Object.fromEntries(Object.entries(TEXTS).map(([language, texts]) => [language, Object.keys(texts)]));
"""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lobby]:
    folder = tmp_path_factory.mktemp("behind")
    with page_server(Folders(folder / "config", folder / "state", folder / "models"), ["Hello there."] * 9) as behind:
        yield behind


@pytest.fixture(scope="module")
def browser(behind: Lobby, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with visiting(None, tmp_path_factory.mktemp("profile")) as visitor:
        yield visitor


@pytest.fixture
def visitor(behind: Lobby, browser: Visitor) -> Visitor:
    """One who has just opened the page, on a phone."""
    browser.size(*PHONE, is_phone=True)
    browser.open("about:blank")
    browser.open(f"{behind.url}/#token={OWNER}")
    browser.until_connected()
    browser.until(lambda: browser.state_of("light.kitchen"))
    return browser


def show(visitor: Visitor, view: str) -> None:
    visitor.one(f'nav a[data-view="{view}"]').click()


def tap(visitor: Visitor, thing: str) -> None:
    show(visitor, "home")
    visitor.one(f'[data-thing="{thing}"] .tap').click()


def test_a_tap_switches_a_light_and_is_undone_like_a_spoken_command(visitor: Visitor, behind: Lobby) -> None:
    tap(visitor, "light.counter")
    visitor.until(lambda: behind.state("light.counter") == "on")
    visitor.until(lambda: visitor.one('[data-thing="light.counter"] .tap').get_attribute("aria-pressed") == "true")
    visitor.until(lambda: [record.calls for record in behind.records if record.source == "screen"][-1:])
    assert behind.records[-1].calls == ("Turned on counter light",)
    show(visitor, "talk")
    visitor.ask("undo that")
    assert behind.state("light.counter") == "off"


def test_sliders_and_colours_set_levels(visitor: Visitor, behind: Lobby) -> None:
    assert behind.toolbox is not None
    house = behind.toolbox.home.house

    def attribute(entity_id: str, name: str) -> object:
        entity = house().entity(entity_id)
        assert entity is not None
        return entity.attributes[name]

    tap(visitor, "light.floor_lamp")
    visitor.one('[data-thing="light.floor_lamp"] input[type=range]')
    visitor.does(SLIDE, '[data-thing="light.floor_lamp"] input[type=range]', 40)
    visitor.does(SLIDE, '[data-thing="climate.thermostat"] input[type=range]', 19.5)
    visitor.does(SLIDE, '[data-thing="light.floor_lamp"] input[type=color]', "#3366ff")
    visitor.until(lambda: attribute("light.floor_lamp", "brightness") == 40)
    visitor.until(lambda: attribute("climate.thermostat", "temperature") == 19.5)
    visitor.until(lambda: attribute("light.floor_lamp", "color") == "#3366ff")


def test_a_lock_is_opened_only_after_a_yes_and_the_no_has_the_focus(visitor: Visitor, behind: Lobby) -> None:
    tap(visitor, "lock.front_door")
    card = visitor.one(".asked .confirmation")
    assert card.is_displayed()
    assert visitor.does("return document.activeElement.className") == "no"
    assert re.search(r"\d+ s", visitor.text(".asked [role=timer]"))
    visitor.browser.switch_to.active_element.send_keys(Keys.ENTER)
    visitor.until(lambda: not visitor.browser.find_elements(By.CSS_SELECTOR, ".asked .confirmation"))
    assert behind.state("lock.front_door") == "locked"
    tap(visitor, "lock.front_door")
    visitor.one(".asked .yes").click()
    visitor.until(lambda: behind.state("lock.front_door") == "unlocked")
    visitor.until(lambda: "unlocked" in visitor.text('[data-thing="lock.front_door"] .phrase'))


def test_the_same_name_twice_is_told_apart_and_the_search_finds_rooms_and_names(visitor: Visitor) -> None:
    names = [visitor.text(f'[data-thing="{thing}.front_door"] .name') for thing in ("lock", "binary_sensor")]
    assert names == ["Front Door lock", "Front Door sensor"]
    show(visitor, "home")
    visitor.one("#home-search").send_keys("office lamp")
    shown = visitor.browser.find_elements(By.CSS_SELECTOR, "#rooms li:not([hidden])")
    assert [item.get_attribute("data-thing") for item in shown] == ["light.desk_lamp"]


def test_a_timer_is_set_rings_on_the_page_and_is_snoozed(visitor: Visitor, behind: Lobby) -> None:
    show(visitor, "plans")
    visitor.one("#plan-form input[type=number]").send_keys("3")
    visitor.one("#plan-form button").click()
    visitor.until(lambda: re.search(r"0[23]:\d\d", visitor.text('[data-kind="timer"] .phrase')))
    assert behind.toolbox is not None
    timers = behind.toolbox.timers
    timers.extend(timers.all()[0], -179)
    visitor.until(lambda: visitor.one("#ring").is_displayed())
    visitor.until(lambda: visitor.one("#ring").get_attribute("data-sounded"))
    visitor.one("#ring .main").click()
    visitor.until(lambda: not visitor.one("#ring").is_displayed())
    visitor.until(lambda: re.search(r"0[89]:\d\d", visitor.text('[data-kind="timer"] .phrase')))
    visitor.one('[data-kind="timer"] .row button:last-child').click()
    visitor.until(lambda: not timers.all())


def test_items_of_a_list_are_added_and_ticked_off(visitor: Visitor) -> None:
    show(visitor, "plans")
    visitor.one('[data-list="todo.shopping_list"] form input').send_keys("oat milk\n")
    visitor.until(lambda: "oat milk" in visitor.text('[data-list="todo.shopping_list"] ul'))
    visitor.one('[data-list="todo.tasks"] input[type=checkbox]').click()
    visitor.until(lambda: visitor.text('[data-list="todo.tasks"] .done') == "water the plants")


def test_what_was_said_is_there_after_a_reload_is_found_and_recalled(visitor: Visitor) -> None:
    visitor.ask("Turn on the printer")
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: "Turn on the printer" in visitor.text("#past"))
    assert not visitor.turns()
    visitor.one("#words").send_keys(Keys.ARROW_UP)
    assert visitor.one("#words").get_attribute("value") == "Turn on the printer"
    visitor.one("#history-search").send_keys("printer")
    visitor.until(lambda: "found" in visitor.text("#history-note"))
    assert "front door" not in visitor.text("#past")
    assert "printer" in visitor.text("#past").lower()


def test_a_phone_is_used_with_keys_alone(visitor: Visitor, behind: Lobby) -> None:
    def press(key: str) -> None:
        visitor.browser.switch_to.active_element.send_keys(key)

    def tab_to(selector: str) -> None:
        for _step in range(40):
            press(Keys.TAB)
            if visitor.does("return document.activeElement.matches(given[0])", selector):
                return
        pytest.fail(f"{selector} cannot be reached")

    before = behind.state("light.bedroom")
    tab_to('nav a[data-view="home"]')
    press(Keys.ENTER)
    tab_to("#home-search")
    press("bedroom light")
    tab_to('[data-thing="light.bedroom"] .tap')
    press(Keys.SPACE)
    visitor.until(lambda: behind.state("light.bedroom") != before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_narrow_and_enlarged_pages_fit(visitor: Visitor, scheme: str) -> None:
    visitor.colours(scheme)
    tap(visitor, "cover.garage_door")
    visitor.one(".asked .no")
    faults = axe(visitor)
    visitor.size(*DESKTOP)
    faults += axe(visitor)  # all views at once
    for width in (NARROWEST, DESKTOP[0] // 2):  # what 200 % leaves of a desktop
        visitor.size(width, DESKTOP[1] // 2)
        for view in VIEWS:
            show(visitor, view)
            assert visitor.does("return document.documentElement.scrollWidth") <= width, view
    assert faults == []


def test_every_text_is_in_the_catalogue_in_both_languages(visitor: Visitor) -> None:
    keys = visitor.does(KEYS)
    assert set(keys["en"]) == set(keys["de"])
    sources = "".join(bytes(file.body).decode() for name, file in page_files().items() if not name.endswith("png"))
    used = re.findall(r'\bt\("([\w.]+)"|data-(?:text|label|placeholder)="([\w.]+)"', sources)
    assert {one or other for one, other in used} <= set(keys["en"])


def test_without_a_token_one_step_is_explained_and_a_wrong_address_is_a_page(visitor: Visitor, behind: Lobby) -> None:
    visitor.does("localStorage.clear(); sessionStorage.clear();")
    visitor.open(f"{behind.url}/")
    visitor.until(lambda: visitor.one("#key").is_displayed())
    assert "edgevox open" in visitor.text("#key-why")
    visitor.open(f"{behind.url}/v1/home")
    assert "edgevox open" in visitor.text("body")


def test_nothing_was_said_against_it(browser: Visitor) -> None:
    said = "".join(browser.complaints())
    assert "Content Security Policy" not in said
    assert "Uncaught" not in said
