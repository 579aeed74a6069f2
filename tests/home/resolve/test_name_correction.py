"""Correction of misheard names, without changing anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.eval.suite import read_suite
from edgevox.home.resolve.name_correction import correct_entity_names

SUITES = Path(__file__).resolve().parents[2] / "eval"


def _named(names: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in names.split(","))


TERRACE = _named(
    """
    Kitchen, Living Room, Hall, Landing, Box Room, Back Door, Front Door, Reading Lamp, Desk Lamp, LED Strip,
    Telly, Extractor, Ceiling Light, Towel Rail, Tumble Dryer, Dishwasher, Velux Blind, Porch Light,
    Under Cabinet Lights, Wine Fridge, Robot Vacuum, Movie Night, Air Purifier, Garden Lights, Piano Lamp,
    Hall Lights, Front Door Lock
    """
)
FARM = _named(
    """
    Stable, Milking Parlour, Tack Room, Cattle Gate, Yard Light, Hay Barn, Water Trough, Electric Fence,
    Chicken Coop, Greenhouse Fan, Grain Silo, Farmhouse Door, Tractor Shed, Lambing Lamp, Diesel Pump,
    Windmill
    """
)
FLAT = _named(
    """
    Bedside Lamp, Balcony Blind, Sonos Beam, Coffee Machine, Hue Bulb, Soundbar, Humidifier, Thermostat,
    Fairy Lights, Record Player, Sun Sail, Aquarium, Espresso Maker, Projector, Bookshelf Lamp, Nursery,
    Studio
    """
)
CHALET = _named(
    """
    Ski Lodge Weather, Boot Room, Hot Tub, Sauna, Log Burner, Mezzanine, Roof Window, Garage Door,
    Washing Machine, Porthole Lamp, Basement, Front Shutter, Dog Cam, Ferret Corner, Driveway Gate, Lantern
    """
)

MISHEARD = (
    (TERRACE, "Make the red strip brighter.", "Make the LED Strip brighter."),
    (TERRACE, "Make the lead strip magenta.", "Make the LED Strip magenta."),
    (TERRACE, "A Mac door, please lock it.", "A Back Door, please lock it."),
    (TERRACE, "Set the piano RAM to 20%.", "Set the Piano Lamp to 20%."),
    (TERRACE, "Extract her on something's burning.", "Extractor on something's burning."),
    (TERRACE, "Extract or on, please.", "Extractor on, please."),
    (TERRACE, "Pause the tele and unlock the front door.", "Pause the Telly and unlock the front door."),
    (TERRACE, "Pause the tally.", "Pause the Telly."),
    (TERRACE, "lites off in the leaving room", "lites off in the Living Room"),
    (TERRACE, "turn on the reeding lamp", "turn on the Reading Lamp"),
    (TERRACE, "Switch the sealing light off.", "Switch the Ceiling Light off."),
    (TERRACE, "Turn on the towel rale.", "Turn on the Towel Rail."),
    (TERRACE, "is the tumble drier done", "is the Tumble Dryer done"),
    (TERRACE, "Is the dish washer running?", "Is the Dishwasher running?"),
    (TERRACE, "Open the veluxe blind.", "Open the Velux Blind."),
    (TERRACE, "Turn on the pork light.", "Turn on the Porch Light."),
    (TERRACE, "under cabinate lights off", "Under Cabinet Lights off"),
    (TERRACE, "How warm is the whine fridge?", "How warm is the Wine Fridge?"),
    (TERRACE, "start the robot vacume", "start the Robot Vacuum"),
    (TERRACE, "Set the air pure fire to high.", "Set the Air Purifier to high."),
    (TERRACE, "Turn off the gardan lights.", "Turn off the Garden Lights."),
    (TERRACE, "Turn on the desk ramp.", "Turn on the Desk Lamp."),
    (FARM, "Shut the kettle gate.", "Shut the Cattle Gate."),
    (FARM, "open the cattle gait", "open the Cattle Gate"),
    (FARM, "Lights on in the milking parlor.", "Lights on in the Milking Parlour."),
    (FARM, "Turn the yart light on.", "Turn the Yard Light on."),
    (FARM, "Fill the water troff.", "Fill the Water Trough."),
    (FARM, "close the chicken coup", "close the Chicken Coop"),
    (FARM, "Turn the green house fan on.", "Turn the Greenhouse Fan on."),
    (FARM, "How full is the grain silow?", "How full is the Grain Silo?"),
    (FARM, "How full is the brain silo?", "How full is the Grain Silo?"),
    (FARM, "Switch the lamming lamp on.", "Switch the Lambing Lamp on."),
    (FARM, "Stop the deezel pump.", "Stop the Diesel Pump."),
    (FARM, "Is the wind mill turning?", "Is the Windmill turning?"),
    (FARM, "Open the tractor shad.", "Open the Tractor Shed."),
    (FLAT, "Dim the bedside ramp.", "Dim the Bedside Lamp."),
    (FLAT, "bed side lamp on", "Bedside Lamp on"),
    (FLAT, "Lower the balcony blinned.", "Lower the Balcony Blind."),
    (FLAT, "Mute the Sonus beam.", "Mute the Sonos Beam."),
    (FLAT, "Turn on the coffee mission.", "Turn on the Coffee Machine."),
    (FLAT, "Set the hugh bulb to blue.", "Set the Hue Bulb to blue."),
    (FLAT, "Mute the sound bar.", "Mute the Soundbar."),
    (FLAT, "Turn on the humidifire.", "Turn on the Humidifier."),
    (FLAT, "Set the thermostad to 20.", "Set the Thermostat to 20."),
    (FLAT, "Turn on the ferry lights.", "Turn on the Fairy Lights."),
    (FLAT, "Stop the wreckord player.", "Stop the Record Player."),
    (FLAT, "Open the Sun Sailor quarter.", "Open the Sun Sail quarter."),
    (FLAT, "Turn off the aquarian.", "Turn off the Aquarium."),
    (FLAT, "Turn on the expresso maker.", "Turn on the Espresso Maker."),
    (FLAT, "Turn on the project her.", "Turn on the Projector."),
    (FLAT, "Book shelf lamp to ten percent.", "Bookshelf Lamp to ten percent."),
    (FLAT, "Are there lights on in the nursary?", "Are there lights on in the Nursery?"),
    (CHALET, "How does the ski lodge wander look?", "How does the Ski Lodge Weather look?"),
    (CHALET, "How does the sky lodge weather look?", "How does the Ski Lodge Weather look?"),
    (CHALET, "Light the log bernor.", "Light the Log Burner."),
    (CHALET, "Heat the hot tab.", "Heat the Hot Tub."),
    (CHALET, "Lights on in the mezanine.", "Lights on in the Mezzanine."),
    (CHALET, "Is the Russian machine done?", "Is the Washing Machine done?"),
    (CHALET, "Turn on the pothole lamp.", "Turn on the Porthole Lamp."),
    (CHALET, "Is anyone in the placement?", "Is anyone in the Basement?"),
    (CHALET, "Lower the front shoulder to 90%.", "Lower the Front Shutter to 90%."),
    (CHALET, "Turn off the fans in the ferric corner.", "Turn off the fans in the Ferret Corner."),
    (CHALET, "Turn on the lan tern.", "Turn on the Lantern."),
    (CHALET, "Heat the sawna.", "Heat the Sauna."),
    (CHALET, "Open the drive way gate.", "Open the Driveway Gate."),
)


@pytest.mark.parametrize(("names", "heard", "said"), MISHEARD, ids=[heard for _, heard, _ in MISHEARD])
def test_a_misheard_name_is_corrected_to_the_homes_spelling(names: tuple[str, ...], heard: str, said: str) -> None:
    assert correct_entity_names(heard, names) == said
    assert correct_entity_names(said, names) == said


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (TERRACE, "turn off all lights"),  # not the Hall Lights
        (TERRACE, "is the front door locked"),  # not its lock
        (TERRACE, "make the strip red"),
        (TERRACE, "ceiling white please"),  # not the Ceiling Light
        (TERRACE, "you won't open the box room, will you"),
        (TERRACE, "Turn on the deck lamp."),  # a deck is no desk
        (TERRACE, "tell Molly the extract is ready"),
        (TERRACE, "Hall, lights off."),
        (TERRACE, "Play Telly Savalas and then Tally Ho."),
        (TERRACE, "Remind me to tally the receipts."),
        (TERRACE, "Turn on the desk. Ramp up the heating."),
        (FARM, "Turn on the electric fans."),  # not the fence
        (FARM, "Print my boarding pass."),
        (FARM, "stapel the papers"),  # not the Stable
        (FLAT, "Turn on the studio lights."),
        (FLAT, "show me the project"),
        (FLAT, "add wine and lamb to the shopping list"),
        (CHALET, "is the garage open"),
        (CHALET, "what's the weather like"),
        ((), "turn on the lan tern"),
        (CHALET, ""),
    ],
)
def test_words_that_may_be_meant_as_heard_are_unchanged(names: tuple[str, ...], text: str) -> None:
    assert correct_entity_names(text, names) == text


def test_an_ambiguous_name_is_not_corrected() -> None:
    assert correct_entity_names("turn on the bick light", ("Back Light",)) == "turn on the Back Light"
    assert correct_entity_names("turn on the bick light", ("Back Light", "Beck Light")) == "turn on the bick light"


def test_a_recognised_name_is_not_replaced_by_another() -> None:
    assert correct_entity_names("turn on the bed lamp", ("Bad Lamp", "Bed Lamp")) == "turn on the bed lamp"


def test_a_plural_stays_a_plural() -> None:
    assert correct_entity_names("open the frond doors", ("Front Door",)) == "open the Front doors"


def test_numbers_of_names_are_not_guessed() -> None:
    zones = ("Sprinkler Zone 1", "Sprinkler Zone 2")
    assert correct_entity_names("sprinkler zone for on", zones) == "sprinkler zone for on"
    assert correct_entity_names("sprinklar zone two on", zones) == "Sprinkler Zone two on"


def test_accents_and_apostrophes_are_handled() -> None:
    names = ("Zoë's Café Lamp", "Salón")
    assert correct_entity_names("turn on Zoe's caffay lamp", names) == "turn on Zoë's Café Lamp"
    assert correct_entity_names("lights on in the Salón", names) == "lights on in the Salón"


@given(text=st.text(max_size=60), names=st.lists(st.text(max_size=20), max_size=5).map(tuple))
def test_no_text_or_name_crashes_the_correction(text: str, names: tuple[str, ...]) -> None:
    correct_entity_names(text, names)
    assert correct_entity_names(text, ()) == text


@pytest.mark.parametrize("text", ["ͺ lamp", "ghgh lamp", "²² lamp"])
def test_words_without_a_phonetic_code_are_not_names(text: str) -> None:
    assert correct_entity_names(text, ("Desk Lamp", "Ghgh", "ͺ")) == text


@pytest.mark.parametrize("suite", ["home", "home_b"])
def test_correctly_heard_sentences_are_unchanged(suite: str) -> None:
    cases = [case for case in read_suite(SUITES / f"{suite}.jsonl") if case.category != "misheard"]
    now = [correct_entity_names(case.utterance, case.offer.home_prompt().all_names()) for case in cases]
    assert now == [case.utterance for case in cases]
