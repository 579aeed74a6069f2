"""Commands in other languages are read without the model, carried out on the demo home and answered in kind."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from edgevox.agents import Agreement, LLMAgent
from edgevox.core.languages import all_phrases, say
from edgevox.core.turn import Turn
from edgevox.home import DemoHome
from edgevox.home.alarms.time_parser import parse_time
from edgevox.home.entities import Area, Entity, House
from edgevox.home.intents.catalogue import catalogue, known_tools
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.home.rules.languages.clock_times import TimedRequest, timed_requests
from edgevox.home.rules.languages.detection import candidates, language_of_names
from edgevox.home.rules.languages.hook import HomeLanguages
from edgevox.home.rules.languages.reader import Reading, likeliest_request, read
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

TIMED_HOME = House(
    (
        Entity("light.1", "Stehlampe", "light", "off"),
        Entity("light.2", "lámpara", "light", "off"),
        Entity("light.3", "lamp", "light", "off"),
        Entity("media_player.1", "Radio", "media_player", "on"),
        Entity("climate.1", "Heizung", "climate", "heat"),
        Entity("cover.1", "Rollladen", "cover", "open"),
    )
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
        "Schalte das Kitchen Light um acht Uhr und um neun Uhr ein",
        "Schalte das Kitchen Light ein, wenn es dunkel wird",
        "Mach das Licht außer in Kitchen und Office an",
    ],
)
async def test_an_unread_time_condition_or_exception_leaves_everything_as_it_is(talk: Talk, said: str) -> None:
    assert await talk.say(said) == say("not_understood", "de")
    assert talk.bench.state("light.kitchen") == "off"


async def test_commands_alarms_and_reminders_at_a_time_of_day_are_set_in_german(talk: Talk) -> None:
    assert await talk.say("Schalte das Kitchen Light um 22:30 Uhr ein") == "22:30: Schalte das Kitchen Light ein."
    assert talk.bench.state("light.kitchen") == "off"
    said = "Mach das Kitchen Light jeden Abend um halb zehn aus"
    assert await talk.say(said) == "Jeden Tag, 21:30: Mach das Kitchen Light aus."
    assert await talk.say("Weck mich jeden Werktag um sieben") == "Wecker gestellt: jeden Werktag, 07:00."
    assert (
        await talk.say("Erinnere mich montags um acht Uhr an den Müll")
        == "Ich erinnere dich: Müll, jeden Montag, 08:00."
    )
    kinds = [(alarm.kind, alarm.repeat, alarm.label, alarm.language) for alarm in talk.bench.alarms.all()]
    assert sorted(kinds) == [
        ("alarm", (0, 1, 2, 3, 4), "", "de"),
        ("reminder", (0,), "Müll", "de"),
        ("schedule", (), "Schalte das Kitchen Light ein", "de"),
        ("schedule", (0, 1, 2, 3, 4, 5, 6), "Mach das Kitchen Light aus", "de"),
    ]
    assert talk.model.requests == []


@pytest.mark.parametrize(
    ("language", "said", "rest", "time"),
    [
        ("de", "Weck mich um dreißig nach sechs", "Weck mich", "at 6:30"),
        ("de", "Licht aus um viertel vor eins", "Licht aus", "at 12:45"),
        ("de", "Stell die Heizung morgen früh um sechs an", "Stell die Heizung an", "tomorrow at 6:00 in the morning"),
        ("fr", "Éteins tout ce soir à onze heures moins le quart", "Éteins tout", "today at 10:45 in the evening"),
        ("fr", "Allume la radio en semaine à 7h15", "Allume la radio", "every weekday at 7:15"),
        (
            "es",
            "Apaga la luz todos los lunes y jueves a las diez y media",
            "Apaga la luz",
            "every Monday and Thursday at 10:30",
        ),
        ("es", "Apaga la luz mañana por la noche a las once", "Apaga la luz", "tomorrow at 11:00 at night"),
        (
            "it",
            "Accendi la luce ogni sera alle sette e un quarto",
            "Accendi la luce",
            "every day at 7:15 in the evening",
        ),
        ("it", "Spegni tutto a mezzanotte", "Spegni tutto", "at 0:00"),
        (
            "nl",
            "Doe het licht morgenavond om tien voor acht uit",
            "Doe het licht uit",
            "tomorrow at 7:50 in the evening",
        ),
        ("nl", "Doe het licht in het weekend om 22.30 uur uit", "Doe het licht uit", "every weekend at 22:30"),
        ("pt", "Apaga a luz às quinze para as oito", "Apaga a luz", "at 7:45"),
        ("pt", "Apaga a luz nos dias úteis às 23h30", "Apaga a luz", "every weekday at 23:30"),
    ],
)
def test_a_clock_time_and_its_days_are_taken_off_a_request(language: str, said: str, rest: str, time: str) -> None:
    assert next(timed_requests(said, language)) == TimedRequest(rest, time)
    assert parse_time(time, datetime(2026, 11, 18, 5, tzinfo=UTC)).has_time


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("de Stell um sieben Uhr einen Wecker", "at 7:00"),
        ("fr Mets à 7 heures un réveil", "at 7:00"),
        ("es Pon a las siete una alarma", "at 7:00"),
        ("nl Zet om zeven uur een wekker", "at 7:00"),
        ("de Weck mich um sieben Uhr einundzwanzig", "at 7:21"),
        ("fr Réveille-moi à 7 heures vingt et un", "at 7:21"),
        ("es Despiértame a las siete veintiuno", "at 7:21"),
        ("de Weck mich um ein Uhr", "at 1:00"),
        ("nl Wek me om één uur", "at 1:00"),
        ("es Despiértame a la una y media", "at 1:30"),
        ("de Weck mich übermorgen um 8 Uhr", "day after tomorrow at 8:00"),
        ("fr Réveille-moi après-demain à 8 heures", "day after tomorrow at 8:00"),
        ("es Despiértame pasado mañana a las 8", "day after tomorrow at 8:00"),
        ("it Svegliami dopodomani alle 8", "day after tomorrow at 8:00"),
        ("nl Wek me overmorgen om 8 uur", "day after tomorrow at 8:00"),
        ("pt Acorda-me depois de amanhã às 8", "day after tomorrow at 8:00"),
        ("de Weck mich von Montag bis Freitag um 8", "every weekday at 8:00"),
        ("fr Réveille-moi du lundi au vendredi à 8 heures", "every weekday at 8:00"),
        ("de Weck mich jedes Wochenende um 8 Uhr", "every weekend at 8:00"),
        ("de Weck mich montags und dienstags um 8 Uhr", "every Monday and Tuesday at 8:00"),
        ("de Weck mich jeden Werktag um 06:30 Uhr", "every weekday at 06:30"),
        ("de Weck mich um fünf vor halb acht", "at 7:25"),
        ("nl Wek me om vijf over half acht", "at 7:35"),
        ("fr Réveille-moi à midi moins le quart", "at 11:45 am"),
        ("fr Réveille-moi à midi et quart", "at 12:15 pm"),
        ("it Svegliami a mezzogiorno e mezzo", "at 12:30 pm"),
        ("pt Acorda-me ao meio-dia e meia", "at 12:30 pm"),
        ("es Despiértame a las doce de la mañana", "at 12:00 pm"),
        ("de Weck mich mittags um halb zwölf", "at 11:30 am"),
        ("nl Wek me 's middags om half twaalf", "at 11:30 am"),
        ("de Weck mich nachts um fünf", "at 5:00 am"),
        ("de Weck mich heute nacht um fünf", "tomorrow at 5:00 am"),
        ("it Svegliami alle 5 di notte", "at 5:00 am"),
        ("de Weck mich am 24. Dezember um 8 Uhr", None),
        ("de Weck mich in zwei Wochen um 8 Uhr", None),
        ("de Weck mich nächste Woche um 8 Uhr", None),
        ("de Weck mich Montag und Dienstag um 8 Uhr", None),
        ("de Weck mich jeden zweiten Montag um 8 Uhr", None),
        ("es Despiértame el 24 de diciembre a las 8", None),
        ("es Pon la alarma el 24 de diciembre a las 8", None),
        ("es Pon una alarma para dentro de dos semanas", None),
        ("de Stell mir bitte einen Wecker für morgen um sieben", "tomorrow at 7:00"),
        ("fr Réveille-moi la semaine prochaine à 8 heures", None),
        ("it Svegliami tra due settimane alle 8", None),
        ("nl Wek me volgende week om 8 uur", None),
        ("pt Acorda-me no dia 24 às 8", None),
    ],
)
def test_an_alarm_rings_at_the_time_that_was_said_or_is_not_set(said: str, time: str | None) -> None:
    calls = [] if time is None else [("set_alarm", {"time": time})]
    assert calls_of(said) == calls
    if time is not None:
        assert parse_time(time, datetime(2026, 11, 18, 5, tzinfo=UTC)).has_time


@pytest.mark.parametrize(
    ("said", "task", "time"),
    [
        ("de Erinnere mich daran, die Heizung auf 20 zu stellen", "", ""),
        ("nl Herinner me eraan om 8 broden te kopen", "", ""),
        ("nl Herinner me eraan om 8 uur brood te kopen", "brood te kopen", "at 8:00"),
        ("de Erinnere mich daran, Brot für 5 Leute zu kaufen", "", ""),
        ("es Recuérdame comprar pan para las 5", "", ""),
        ("it Ricordami di comprare il pane per le 5", "", ""),
        ("pt Lembra-me de comprar pão para as 5", "", ""),
        ("de Erinnere mich daran, für 4 Personen zu kochen um 18 Uhr", "für 4 Personen zu kochen", "at 18:00"),
        ("de Erinnere mich an das Essen für 6 um 18 Uhr", "Essen für 6", "at 18:00"),
        ("de Erinnere mich um 20 Uhr daran, dass morgen der Müll kommt", "dass morgen der Müll kommt", "at 20:00"),
        ("de Erinnere mich daran, dass morgen der Müll kommt um 20 Uhr", "", ""),
        ("de Erinnere mich bitte morgen daran, um 8 Uhr zu essen", "zu essen", "tomorrow at 8:00"),
        ("de Erinnere mich an den Müll morgen um 20 Uhr", "Müll", "tomorrow at 20:00"),
        ("es Recuérdame a las 8 que mañana viene la basura", "mañana viene la basura", "at 8:00"),
        ("es Recuérdame la semana que viene a las 8 comprar pan", "", ""),
        ("fr Rappelle-moi de manger à midi et quart", "manger", "at 12:15 pm"),
    ],
)
def test_an_amount_or_a_day_in_the_task_of_a_reminder_is_not_its_time(said: str, task: str, time: str) -> None:
    assert calls_of(said) == ([("set_reminder", {"task": task, "time": time})] if task else [])


@pytest.mark.parametrize(
    ("said", "task", "time"),
    [
        ("de Schalte um acht Uhr eine Stehlampe ein", "Schalte eine Stehlampe ein", "at 8:00"),
        ("de Fahr den Rollladen um sieben hoch", "Fahr den Rollladen hoch", "at 7:00"),
        ("de Schalte übermorgen um 8 Uhr die Stehlampe ein", "Schalte die Stehlampe ein", "day after tomorrow at 8:00"),
        ("nl Zet lamp om 8 uur op 20 procent", "Zet lamp op 20 procent", "at 8:00"),
        ("es Enciende lámpara a las dos", "Enciende lámpara", "at 2:00"),
        ("de Schalte am 24. Dezember um 8 Uhr die Stehlampe ein", "", ""),
        ("de Dreh das Radio um 10 hoch", "", ""),
        ("de Dreh das Radio um zehn runter", "", ""),
        ("de Dreh die Heizung um zwei auf", "", ""),
        ("es Enciende a las dos lámparas", "", ""),
        ("it Accendi alle due luci", "", ""),
        ("pt Acende às duas lâmpadas", "", ""),
    ],
)
def test_a_step_or_a_number_of_things_is_no_schedule(said: str, task: str, time: str) -> None:
    assert calls_of(said) == ([("set_reminder", {"task": task, "time": time, "runs": True})] if task else [])


def calls_of(said: str) -> list[tuple[str, Any]]:
    """The calls for a sentence behind the code of its language."""
    language, text = said.split(" ", 1)
    reading = read(text, language, names_of(TIMED_HOME), known_tools())
    return [(call.name, json.loads(call.arguments)) for call in reading.calls] if reading else []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Stell die Heizung um zwei höher"),
        ("de", "Stell die Heizung um 1,5 Grad höher"),
        ("de", "Stell die Heizung um 20.5 Grad höher"),
        ("de", "Dimme das Licht um zehn Prozent"),
        ("de", "Stell die Heizung auf zwanzig"),
        ("fr", "Mets le chauffage à vingt"),
        ("es", "Pon la luz al cincuenta"),
        ("nl", "Zet de verwarming om twee graden hoger"),
    ],
)
def test_a_value_is_no_clock_time(language: str, said: str) -> None:
    assert list(timed_requests(said, language)) == []


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
def test_an_hour_is_a_time_and_no_position() -> None:
    house = House((Entity("cover.1", "tenda", "cover", "open"),))
    reading = read("Abbassa la tenda alle 20", "it", names_of(house), known_tools())
    assert reading
    assert json.loads(reading.calls[0].arguments) == {"task": "Abbassa la tenda", "time": "at 20:00", "runs": True}


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


@pytest.mark.parametrize(
    ("hypotheses", "chosen", "is_likelier"),
    [
        (("Stelle landet an.", "Stehlampe am.", "Stehlampe an."), "Stehlampe an.", True),
        (
            ("Setz Milch auf die Einkaufsliste.", "Setz mich auf die Einkaufsliste."),
            "Setz Milch auf die Einkaufsliste.",
            False,
        ),
        (("Spiel die Stehlampe an.", "Stell die Stehlampe an."), "Stell die Stehlampe an.", True),
        (("Ich war in der Stadt.", "Ich war in der statt."), "Ich war in der Stadt.", False),
    ],
    ids=["a request", "words of one's own", "no song where it can be a lamp", "talk"],
)
def test_of_what_may_have_been_said_a_request_to_this_home_is_chosen(
    hypotheses: tuple[str, ...], chosen: str, *, is_likelier: bool
) -> None:
    text, ratio = likeliest_request(hypotheses, "de", names_of(GERMAN_HOME), known_tools())
    assert (text, ratio > 1) == (chosen, is_likelier)
