"""What the recognised speaker may do: scopes, the spoken yes, follow-ups, and "my list"."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.audio.wake_gate import WakeContext
from edgevox.config.secrets import Secret
from edgevox.config.sections import PeopleSettings
from edgevox.core.events import Event, ToolFinished, TranscriptReady, TurnEnded
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder
from edgevox.core.turn import LOCAL, Caller, CancelFlag, Turn, background_task
from edgevox.core.types import GUEST
from edgevox.dialogue import Pipeline, SpeakerTranscriber, Transcriber
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.speakers.people import PEOPLE_FILE, People
from edgevox.testing import ScriptedModel
from edgevox.tools.executor import current_call
from edgevox.tools.policy import LOCKS
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.test_confirm import BOUND_S, pending
from tests.server.harness import written
from tests.speakers.voices import FakeVoices, sound_of, voice

ANNA, TIM, STRANGER, OTHER_STRANGER, TOO_SHORT, BROKEN = 1, 2, 3, 4, 0, 99


def recognizer(**settings: object) -> SpeakerRecognizer:
    people = People()
    people.add("Anna", [voice(ANNA)])
    people.add("Tim", [voice(TIM)])
    given = PeopleSettings.model_validate({"scopes": {"tim": ["read"]}} | settings)
    return SpeakerRecognizer(FakeVoices(), people, given)


async def hear(
    number: int, speakers: SpeakerRecognizer, model: ScriptedModel, events: list[Event], after: int | None = None
) -> Pipeline:
    @tool(scope="act")
    def paint() -> str:
        """Paint."""
        call = current_call()
        return f"painted for {call.caller.person if call else ''}"

    agent = LLMAgent("test", model=model, tools=[paint], parsers=("hermes",), publish=events.append)
    transcriber = SpeakerTranscriber(Transcriber(FakeStt(["what is on my list"] * 2)), speakers)
    pipeline = Pipeline(agent, preset="p", publish=events.append, transcriber=transcriber, speakers=speakers)
    if after is not None:
        pipeline.last_heard = await transcriber.transcribe(sound_of(after), CancelFlag())
    context: WakeContext = "called" if after is None else "follow_up"
    await pipeline.hear(sound_of(number), Turn(), last_voiced_s=0.0, context=context)
    return pipeline


async def test_the_turn_knows_its_speaker_in_events_and_log() -> None:
    records: list[TurnMetrics] = []
    for number, name in ((ANNA, "Anna"), (STRANGER, GUEST), (TOO_SHORT, ""), (BROKEN, "")):
        events: list[Event] = []
        await hear(number, recognizer(), ScriptedModel(["Bread."]), events)
        assert [event.speaker for event in events if isinstance(event, TranscriptReady)] == [name]
        recorder = TurnMetricsRecorder(records.append)
        for event in events:
            recorder(event)
        assert records[-1].speaker == name


async def test_nobody_enrolled_costs_nothing_and_changes_nothing() -> None:
    voices = FakeVoices()
    speakers = SpeakerRecognizer(voices, People(), PeopleSettings())
    transcript = await SpeakerTranscriber(Transcriber(FakeStt(["hello"])), speakers).transcribe(
        sound_of(ANNA), CancelFlag()
    )
    assert (transcript.speaker, voices.requests, speakers.caller_for("", LOCAL)) == ("", 0, None)


@pytest.mark.parametrize("has_other_passphrase", [True, False], ids=["another passphrase", "a damaged file"])
def test_while_the_people_cannot_be_read_everybody_is_a_guest(tmp_path: Path, *, has_other_passphrase: bool) -> None:
    path = tmp_path / PEOPLE_FILE
    People(path, Secret("open sesame")).add("Anna", [voice(ANNA)])
    if not has_other_passphrase:
        path.write_bytes(path.read_bytes()[:40])
    settings = PeopleSettings.model_validate({"confirm_by": "allowed", "guest_scopes": ["read"]})
    speakers = SpeakerRecognizer(FakeVoices(), People(path, Secret("forgotten")), settings)
    assert speakers.match(voice(ANNA)) == GUEST
    caller = speakers.caller_for(GUEST, LOCAL)
    assert caller is not None
    assert caller.scopes == {"read"}
    assert not speakers.may_confirm(GUEST, pending())


async def test_a_tool_runs_with_the_scopes_of_the_speaker() -> None:
    outcomes = {}
    for number in (ANNA, TIM, TOO_SHORT):
        events: list[Event] = []
        await hear(number, recognizer(guest_scopes=("read",)), ScriptedModel([written("paint"), "Done."]), events)
        (finished,) = [event for event in events if isinstance(event, ToolFinished)]
        outcomes[number] = finished.code or finished.content
    denied = "token_scope_insufficient"
    assert outcomes == {ANNA: '"painted for Anna"', TIM: denied, TOO_SHORT: denied}


def test_locks_are_closed_to_guests_by_default_and_to_the_rest_of_a_limited_session() -> None:
    speakers = recognizer()
    scopes = {name: speakers.caller_for(name, LOCAL) for name in ("Anna", "Tim", GUEST, "")}
    may = {name: caller.may(LOCKS) for name, caller in scopes.items() if caller}
    assert may == {"Anna": True, "Tim": False, GUEST: False, "": False}
    in_session = speakers.caller_for("Anna", Caller("page", frozenset({"read"})))
    assert in_session == Caller("page", frozenset({"read"}), person="Anna"), "the session's own limits stay"


async def test_a_spoken_yes_counts_from_an_allowed_voice_only_if_the_policy_says_so() -> None:
    granted = {}
    for policy in ("anyone", "allowed"):
        for name in ("Anna", "Tim", ""):
            speakers = recognizer(confirm_by=policy, guest_scopes=())
            dialog = ConfirmationDialog(channels=frozenset({"voice"}), may_confirm=speakers.may_confirm)
            async with asyncio.timeout(BOUND_S), background_task(dialog(pending(), Turn())) as asked:
                await dialog.until_listening()
                assert dialog.listening
                dialog.listening.hear("yes", name)
                granted[policy, name] = (await asked).granted
    assert [name for (policy, name), is_granted in granted.items() if policy == "allowed" and is_granted] == ["Anna"]
    assert all(is_granted for (policy, _name), is_granted in granted.items() if policy == "anyone")


async def test_a_follow_up_of_another_person_is_dropped() -> None:
    for follow_ups, outcome in (("same", "dropped"), ("anyone", "answered")):
        events: list[Event] = []
        await hear(STRANGER, recognizer(follow_ups=follow_ups), ScriptedModel(["Bread."]), events, after=ANNA)
        assert [event.outcome for event in events if isinstance(event, TurnEnded)] == [outcome]
    pipeline = await hear(ANNA, recognizer(), ScriptedModel(["Bread."]), [], after=ANNA)
    assert pipeline.last_heard.speaker == "Anna"


async def test_a_guest_is_followed_by_the_same_guest_only() -> None:
    outcomes = {}
    for now in (STRANGER, OTHER_STRANGER, TOO_SHORT, BROKEN):
        events: list[Event] = []
        await hear(now, recognizer(), ScriptedModel(["Bread."]), events, after=STRANGER)
        (outcomes[now],) = (event.outcome for event in events if isinstance(event, TurnEnded))
    assert [now for now, outcome in outcomes.items() if outcome == "dropped"] == [OTHER_STRANGER]


async def test_my_list_is_that_of_the_speaker() -> None:
    model = ScriptedModel(["Bread."])
    await hear(ANNA, recognizer(), model, [])
    assert model.requests[-1].messages[-1].content == "what is on Anna's list"
    speakers = recognizer()
    assert speakers.personal("Create a list for me.", "Tim") == "create a list called Tim's list"
    assert speakers.personal("what is on my list", GUEST) == "what is on my list"
