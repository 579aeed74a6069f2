"""Misspelt copies of spoken words are corrected, only for the model that is trained to copy."""

from __future__ import annotations

import json

import pytest

from edgevox.core.hooks import Run
from edgevox.core.types import ChatRequest, Message, ToolCall
from edgevox.llm.hooks_slm import CopiedWords
from edgevox.llm.hooks_slm.tool_calls import correct_copied_words, exact_name

TOOL = {
    "type": "function",
    "function": {
        "name": "get_state",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "domain": {"type": "string", "enum": ["light", "lightning"]},
                "count": {"type": "integer"},
            },
        },
    },
}


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("hamock", "is the hammock moving", "hammock"),
        ("ezel light", "Turn on the eazel light.", "eazel light"),
        ("Tomas", "is Tomasz home?", "Tomasz"),
        ("kitchen", "kitchen lights on", "kitchen"),  # said so
        ("denser", "a soft orange glow", "denser"),  # no slip of anything
        ("bedroom lamp", "and that one too", "bedroom lamp"),  # from an earlier turn
        ("tv", "the telly", "tv"),
        ("O'Neils list", "put milk on O'Neil's list", "O'Neil's list"),
        ("", "anything", ""),
        ("unlocked", "did anyone unlock the door", "unlocked"),  # a form of the word
        ("boiler", "what's the boiler's pressure", "boiler"),  # its owner
        ("boler", "what's the boiler's pressure", "boiler's"),
        ("staple", "add staples to supplies", "staples"),
    ],
)
def test_a_misspelt_copy_is_replaced_by_the_spoken_words(text: str, said: str, expected: str) -> None:
    assert correct_copied_words(text, said) == expected


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("notes/todo.txt", "read /home/me/notes/todo.txt", "/home/me/notes/todo.txt"),
        ("/home/me/note/todo.txt", "what is in /home/me/notes/todo.txt?", "/home/me/notes/todo.txt"),
        ("https://example.com/pages", "fetch https://example.org/pages, please", "https://example.org/pages"),
        ("mara@example.com", "write to mara@example.org", "mara@example.org"),
        ("report.md", "open report.md", "report.md"),
        ("**/*report.md*", "search for report.md", "**/*report.md*"),
        ("/home/me/notes/bees", "a folder called bees in /home/me/notes", "/home/me/notes/bees"),
        ("kitchen light", "the kitchen light and/or the lamp", None),
        ("lamp", "turn off the lamp.then go", None),
    ],
)
def test_paths_and_addresses_are_taken_from_the_request_as_they_are(text: str, said: str, expected: str | None) -> None:
    assert exact_name(text, said) == expected


async def mended(wire_format: str, **arguments: object) -> dict[str, object] | None:
    hook, run = CopiedWords(), Run("test", "t", "is the lightening hammock on")
    request = ChatRequest((Message("user", run.text),), tools=(TOOL,), wire_format=wire_format)
    await hook.before_llm(run, request)
    call = await hook.before_tool(run, ToolCall("1", "get_state", json.dumps(arguments)))
    return None if call is None else json.loads(call.arguments)


async def test_only_free_text_arguments_are_corrected() -> None:
    found = await mended("python_list", name="hamock", domain="lightning", count=3)
    assert found == {"name": "hammock", "domain": "lightning", "count": 3}


async def test_a_call_without_misspellings_is_unchanged() -> None:
    assert await mended("python_list", name="hammock") is None


async def test_a_model_that_corrects_names_is_not_overridden() -> None:
    assert await mended("hermes", name="hamock") is None


async def test_the_message_of_respond_is_unchanged() -> None:
    hook, run = CopiedWords(), Run("test", "t", "Hello, nice to meet you.")
    request = ChatRequest((Message("user", run.text),), wire_format="python_list")
    await hook.before_llm(run, request)
    call = ToolCall("1", "respond", json.dumps({"message": "Nice to meet you too."}))
    assert await hook.before_tool(run, call) is None
