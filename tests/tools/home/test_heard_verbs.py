"""Misheard verbs are put right where a command begins, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.eval.suite import read_suite
from edgevox.tools.home.heard_verbs import as_said

SUITES = Path(__file__).resolve().parents[2] / "eval"
HOUSE = ("Kitchen", "Living Room", "Hall", "Barn Door", "Desk Lamp", "Front Door", "Telly", "Shopping List")

MISHEARD = (
    ("Plus the Barn Door, shut the kitchen blinds.", "Close the Barn Door, shut the kitchen blinds."),
    ("clause all the curtains", "close all the curtains"),
    ("Foot the kitchen lights on.", "Put the kitchen lights on."),
    ("Bim the desk lamp to 15%.", "Dim the desk lamp to 15%."),
    ("Tern off the lights in the hall.", "Turn off the lights in the hall."),
    ("Could you deem the lights?", "Could you dim the lights?"),
    ("Stuart the telly and clues the barn door.", "Start the telly and close the barn door."),
    ("Vacume the hall.", "Vacuum the hall."),
    ("Chorten the one hour timer by 15 minutes.", "Shorten the one hour timer by 15 minutes."),
    ("Paws the telly.", "Pause the telly."),
    ("plus the desk ramp", "close the Desk Lamp"),
)


@pytest.mark.parametrize(("heard", "said"), MISHEARD, ids=[heard for heard, _ in MISHEARD])
def test_a_misheard_verb_is_put_right(heard: str, said: str) -> None:
    assert as_said(heard, HOUSE) == said


@pytest.mark.parametrize(
    "said",
    [
        "Two plus the tip is ten.",
        "Plus the weather is awful.",
        "Stuart the plumber is in the kitchen.",
        "My foot the other day hurt.",
        "I saw paws on the kitchen floor.",
        "Closing the barn door now would be good.",
        "Paint the kitchen white.",
        "Walk the dog in the hall.",
        "Amok the front door.",
        "Onleck the front door.",
        "Unload the washing in the hall.",
        "Stop the train and blow the whistle in the kitchen.",
        "Could you sharpen the knife in the kitchen?",
        "Is the churn in the kitchen?",
        "",
    ],
)
def test_what_may_have_been_said_stays(said: str) -> None:
    assert as_said(said, HOUSE) == said


@pytest.mark.parametrize("suite", ["home", "home_b", "no_call", "no_call_b", "talk", "unseen_tools"])
def test_sentences_that_were_heard_well_stay(suite: str) -> None:
    cases = [case for case in read_suite(SUITES / f"{suite}.jsonl") if case.category != "misheard"]
    now = [as_said(case.utterance, case.offer.told_home().all_names()) for case in cases]
    assert now == [case.utterance for case in cases]
