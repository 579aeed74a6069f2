from __future__ import annotations

from collections.abc import Collection

from edgevox.agents.conversation import Conversation, Summary, TurnRecord
from edgevox.config import MemorySettings
from edgevox.core.types import Message, ToolCall


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


class ListJournal:
    """A journal in which a test can delete."""

    def __init__(self) -> None:
        self.turns: dict[str, TurnRecord] = {}
        self.summaries: list[Summary] = []
        self.deletions = 0

    def write_turn(self, turn: TurnRecord) -> None:
        self.turns[turn.id] = turn

    def amend_turn(self, turn: TurnRecord) -> None:
        if turn.id in self.turns:
            self.turns[turn.id] = turn

    def write_summary(self, conversation: str, summary: Summary) -> None:
        self.summaries.append(summary)

    def forgettings(self) -> int:
        return self.deletions

    def surviving(self, turn_ids: Collection[str]) -> Collection[str]:
        return self.turns.keys() & set(turn_ids)

    def delete(self, *turn_ids: str) -> None:
        for turn_id in turn_ids:
            del self.turns[turn_id]
        self.deletions += 1


def turn(number: int) -> tuple[Message, ...]:
    return (Message("user", f"question {number}"), Message("assistant", f"answer {number}"))


def kept(conversation: Conversation, count: int) -> Conversation:
    for number in range(count):
        conversation.keep(turn(number), turn_id=str(number))
    return conversation


def summarised(conversation: Conversation, text: str, turns: int) -> None:
    conversation.forget_oldest(turns)
    conversation.turns_to_summarise()
    conversation.set_summary(text)


def questions(conversation: Conversation) -> list[str]:
    return [message.content for message in conversation.messages() if message.role == "user"]


def test_turns_come_back_in_order() -> None:
    assert kept(Conversation(), 2).messages() == (*turn(0), *turn(1))


def test_the_oldest_turns_leave_the_prompt_and_stay_in_the_journal() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 4)
    conversation.forget_oldest(3)
    assert conversation.messages() == turn(3)
    assert list(journal.turns) == ["0", "1", "2", "3"]
    assert conversation.turns_to_summarise() == (turn(0), turn(1), turn(2))


def test_an_interrupted_reply_is_truncated_in_prompt_and_journal() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 2)
    asked, called, result = (
        Message("user", "How cold is it?"),
        Message("assistant", "", tool_calls=(ToolCall("1", "temperature", "{}"),)),
        Message("tool", "5", tool_call_id="1"),
    )
    conversation.keep((asked, called, result, Message("assistant", "It is five degrees.")), turn_id="cold")
    conversation.amend_reply("cold", "It is…", finish_reason="interrupted")
    assert conversation.messages()[4:] == (asked, called, result, Message("assistant", "It is…"))
    assert journal.turns["cold"].messages == conversation.messages()[4:]
    assert journal.turns["cold"].finish_reason == "interrupted"
    assert conversation.messages()[:4] == (*turn(0), *turn(1))


def test_a_deleted_turn_is_not_amended() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 2)
    journal.delete("1")
    conversation.amend_reply("1", "answer…", finish_reason="interrupted")
    assert conversation.messages() == turn(0)
    assert list(journal.turns) == ["0"]


def test_of_few_turns_all_but_the_last_are_dropped_together() -> None:
    conversation = kept(Conversation(settings=MemorySettings(max_turns=3)), 3)
    assert len(conversation.messages()) == 6
    conversation.keep((Message("user", "one more"), Message("assistant", "Yes.")))
    assert [message.content for message in conversation.messages()] == ["one more", "Yes."]


def test_a_full_prompt_drops_several_turns_at_once() -> None:
    conversation = kept(Conversation(settings=MemorySettings(max_turns=8)), 8)
    assert len(questions(conversation)) == 8
    conversation.keep(turn(8))
    assert questions(conversation) == [f"question {number}" for number in range(2, 9)]


def test_a_summary_comes_first_and_replaces_its_turns() -> None:
    conversation = kept(Conversation(), 3)
    summarised(conversation, "They spoke of numbers.", 2)
    note, *rest = conversation.messages()
    assert note.role == "system"
    assert note.content.endswith("They spoke of numbers.")
    assert tuple(rest) == turn(2)
    assert conversation.turns_to_summarise() == ()


def test_a_turn_dropped_during_summarising_waits_for_the_next_summary() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 4)
    conversation.forget_oldest(2)
    conversation.turns_to_summarise()
    conversation.forget_oldest(1)
    conversation.set_summary("first two")
    assert conversation.turns_to_summarise() == (turn(2),)
    assert conversation.summary == "first two"
    conversation.set_summary("first three")
    assert journal.summaries == [Summary("first two", "0", "1"), Summary("first three", "0", "2")]


def test_a_long_silence_begins_a_new_conversation() -> None:
    clock = Clock()
    conversation = kept(Conversation(settings=MemorySettings(continue_minutes=10), clock=clock), 3)
    summarised(conversation, "old", 2)
    clock.now_s += 599
    assert len(conversation.messages()) == 3
    clock.now_s += 2
    assert conversation.messages() == ()
    conversation.keep(turn(9))
    assert conversation.messages() == turn(9)


def test_a_clock_set_back_slightly_does_not_end_the_conversation() -> None:
    clock = Clock()
    conversation = kept(Conversation(clock=clock), 1)
    clock.now_s -= 60
    assert conversation.messages() == turn(0)


def test_turns_deleted_by_another_process_leave_the_prompt() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 5)
    summarised(conversation, "of the first two", 2)
    conversation.forget_oldest(1)
    journal.delete("2", "4")
    assert questions(conversation) == ["question 3"]
    assert conversation.turns_to_summarise() == ()
    assert conversation.summary == "of the first two"


def test_deleting_a_turn_deletes_its_summary() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 3)
    summarised(conversation, "secret", 2)
    journal.delete("1")
    assert conversation.messages() == turn(2)
    assert conversation.summary == ""


def test_a_summary_of_turns_deleted_meanwhile_is_discarded() -> None:
    journal = ListJournal()
    conversation = kept(Conversation(journal=journal), 3)
    conversation.forget_oldest(1)
    conversation.turns_to_summarise()
    journal.delete("0")
    conversation.forget_oldest(1)
    conversation.set_summary("secret")
    assert conversation.messages() == turn(2)
    assert journal.summaries == []
