"""Commands in other languages are read without the model, carried out on the demo home and answered in kind."""

from __future__ import annotations

import dataclasses

import pytest

from edgevox.agents import Agreement, LLMAgent
from edgevox.core.languages import all_phrases, say
from edgevox.core.turn import Turn
from edgevox.home import DemoHome
from edgevox.home.entities import Area, Entity, House
from edgevox.home.intents.catalogue import catalogue, known_tools
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.home.rules.languages.detection import candidates, language_of_names
from edgevox.home.rules.languages.hook import HomeLanguages
from edgevox.home.rules.languages.reader import Reading, read
from edgevox.home.rules.languages.templates import LANGUAGES, names_of
from edgevox.testing import ScriptedModel
from edgevox.tools import PendingConfirmation
from tests.home.conftest import Bench

GERMAN_HOME = House(
    (
        Entity("light.1", "Stehlampe", "light", "off", area="wohnzimmer"),
        Entity("light.2", "Schreibtischlampe", "light", "off", area="kueche"),
        Entity("light.3", "kitchen light", "light", "off", area="kueche"),
        Entity("lock.1", "Haustür", "lock", "locked"),
        Entity("todo.1", "Einkaufsliste", "todo", "0"),
    ),
    (Area("kueche", "Küche"), Area("wohnzimmer", "Wohnzimmer")),
)


class Talk:
    """An agent whose model knows English only, and says that it was asked."""

    def __init__(self, bench: Bench, languages: HomeLanguages, *, agrees: bool = True) -> None:
        self.bench = bench
        self.agrees = agrees
        self.questions: list[str] = []
        self.model = ScriptedModel(["The model answers."] * 3)
        state = (bench.timers, bench.alarms, bench.watches, EffectLog(bench.clock))
        self.agent = LLMAgent(
            "test",
            tools=bench.executor,
            hooks=assistant_hooks(bench.executor, bench.home, *state, languages),
            model=self.model,
            offered=tuple(catalogue()),
            confirm=self._answer,
        )

    async def _answer(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        self.questions.append(pending.question)
        return Agreement(granted=self.agrees)

    async def say(self, text: str) -> str:
        return (await self.agent.run(text)).reply


@pytest.fixture
def talk(bench: Bench) -> Talk:
    return Talk(bench, HomeLanguages(("en",)))


async def test_german_commands_act_and_are_answered_in_german(talk: Talk) -> None:
    assert await talk.say("Könntest du bitte das Kitchen Light einschalten?") == "Kitchen Light eingeschaltet."
    assert talk.bench.state("light.kitchen") == "on"
    assert await talk.say("stell den Thermostat auf 21,5 Grad") == "Thermostat auf 21,5 Grad gestellt."
    assert await talk.say("Stell einen Timer auf anderthalb Stunden") == "Timer für 1 Stunde und 30 Minuten gestellt."
    assert talk.model.requests == []


async def test_a_lock_is_opened_after_a_question_in_the_language(talk: Talk) -> None:
    talk.agrees = False
    assert await talk.say("Sperre Front Door auf") == say("not_done", "de")
    assert talk.questions == ["Front Door aufschließen?"]
    assert talk.bench.state("lock.front_door") == "locked"


async def test_relative_changes_exceptions_and_references_are_read_in_german(talk: Talk) -> None:
    assert await talk.say("Schalte das Kitchen Light ein") == "Kitchen Light eingeschaltet."
    assert await talk.say("Mach es etwas dunkler") == "Kitchen Light auf 80 Prozent gestellt."
    assert await talk.say("Stell den Thermostat zwei Grad wärmer") == "Thermostat auf 23 Grad gestellt."
    await talk.say("Schalte alle Lichter außer Desk Lamp ein")
    assert (talk.bench.state("light.bedroom"), talk.bench.state("light.desk_lamp")) == ("on", "off")
    await talk.say("Schalte die Floor Lamp aus")
    await talk.say("Mach sie wieder an")
    assert talk.bench.state("light.floor_lamp") == "on"
    assert talk.model.requests == []


async def test_undo_is_answered_in_german(talk: Talk) -> None:
    assert await talk.say("Mach das rückgängig") == "Es gibt nichts rückgängig zu machen."


@pytest.mark.parametrize(
    "said",
    [
        "Schalte das Kitchen Light um acht Uhr ein",
        "Schalte das Kitchen Light ein, wenn es dunkel wird",
        "Mach das Licht außer in Kitchen und Office an",
    ],
)
async def test_an_unread_time_condition_or_exception_leaves_everything_as_it_is(talk: Talk, said: str) -> None:
    assert await talk.say(said) == say("not_understood", "de")
    assert talk.bench.state("light.kitchen") == "off"


async def test_what_no_template_fits_is_not_acted_on_by_a_model_that_knows_english_only(talk: Talk) -> None:
    assert await talk.say("Mach das Licht bloß nicht aus") == say("not_understood", "de")
    assert await talk.say("Was ist die Hauptstadt von Peru?") == say("not_understood", "de")
    assert talk.model.requests == []


async def test_a_model_that_knows_the_language_is_asked(bench: Bench) -> None:
    talk = Talk(bench, HomeLanguages(None))
    assert await talk.say("Was ist die Hauptstadt von Peru?") == "The model answers."


async def test_english_goes_its_own_way(talk: Talk) -> None:
    assert await talk.say("turn on the kitchen light") == "The model answers."


# Without German: its templates are parsed above. Parsing those of a language takes seconds.
@pytest.mark.long
@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("Allume Kitchen Light, s'il te plaît", "J'ai allumé Kitchen Light."),
        ("Enciende Kitchen Light por favor", "He encendido Kitchen Light."),
        ("Accendi Kitchen Light", "Ho acceso Kitchen Light."),
        ("Doe Kitchen Light aan", "Kitchen Light aangezet."),
        ("Acende Kitchen Light", "Liguei Kitchen Light."),
    ],
)
async def test_the_other_languages_act_and_answer(talk: Talk, said: str, reply: str) -> None:
    assert await talk.say(said) == reply
    assert talk.bench.state("light.kitchen") == "on"


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("schalte das kitchen light ein", [("turn_on", '{"name": "kitchen light"}')]),
        ("licht an in der kueche", [("turn_on", '{"area": "Küche", "domain": "light"}')]),
        ("Küchenlicht an", [("turn_on", '{"area": "Küche", "domain": "light"}')]),
        ("Machen Sie bitte das Licht in der Küche an", [("turn_on", '{"area": "Küche", "domain": "light"}')]),
        ("Brennt in der Küche noch Licht?", [("get_state", '{"area": "Küche", "domain": "light", "state": "on"}')]),
        ("mach die Stelampe an", [("turn_on", '{"name": "Stehlampe"}')]),
        ("dimme die Stehlampe auf fuenfzig Prozent", [("light_set", '{"name": "Stehlampe", "brightness": 50}')]),
        (
            "Schalte die Schreibtischlampe und die Stehlampe ein",
            [("turn_on", '{"name": "Schreibtischlampe"}'), ("turn_on", '{"name": "Stehlampe"}')],
        ),
        (
            "Mach die Stehlampe in zehn Minuten aus",
            [("start_timer", '{"minutes": 10, "conversation_command": "Mach die Stehlampe aus"}')],
        ),
        ("Weck mich morgen um halb sieben", [("set_alarm", '{"time": "tomorrow at 6:30"}')]),
        ("Setz Eier auf die Einkaufsliste", [("list_add_item", '{"item": "Eier", "name": "Einkaufsliste"}')]),
    ],
)
def test_a_sentence_becomes_calls(said: str, calls: list[tuple[str, str]]) -> None:
    reading = read(said, "de", names_of(GERMAN_HOME), known_tools())
    assert reading is not None
    assert [(call.name, call.arguments) for call in reading.calls] == calls


@pytest.mark.parametrize("said", ["Mach das Licht nicht aus", "ich habe die Stehlampe ausgeschaltet", "die Stehlampe"])
def test_what_is_no_command_makes_no_call(said: str) -> None:
    assert read(said, "de", names_of(GERMAN_HOME), known_tools()) in (None, Reading())


@pytest.mark.long
def test_an_hour_is_no_position() -> None:
    house = House((Entity("cover.1", "tenda", "cover", "open"),))
    assert read("Abbassa la tenda alle 20", "it", names_of(house), known_tools()) is None


def test_the_language_of_a_text_is_told_by_its_words() -> None:
    said = {
        "de": "mach das Licht aus", "fr": "éteins la lumière", "es": "apaga la luz", "it": "spegni la luce",
        "nl": "doe het licht uit", "pt": "desliga a luz",
    }  # fmt: skip
    assert {code: candidates(text)[0].language for code, text in said.items()} == {code: code for code in LANGUAGES}
    assert candidates("turn off the light") == ()
    assert candidates("Pause") == ()
    assert [one.language for one in candidates("Pause", ["de"])] == ["de"]
    assert (language_of_names(GERMAN_HOME), language_of_names(DemoHome().house())) == ("de", "")


def test_every_language_says_the_same_things() -> None:
    english = all_phrases()["en"]
    for code in LANGUAGES:
        own = all_phrases()[code]
        # The words for calls are only for the web page, which is in English and German.
        spoken = {key for key in own.said if not key.startswith("act_")}
        assert spoken == english.said.keys(), code
        assert own.commands.keys() == english.commands.keys(), code
        assert all(getattr(own, field.name) for field in dataclasses.fields(own)), code
