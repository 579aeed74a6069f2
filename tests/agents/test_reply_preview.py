"""The preview of a reply, read from a call that is still being written."""

from __future__ import annotations

import pytest

from edgevox.agents.model_profile import ReplyPreview

MESSAGE = "It's Paris. It lies on the Seine."
NOTATIONS = {
    "list": f'[respond(message="{MESSAGE}")]',
    "json": f'{{"name": "respond", "arguments": {{"text": "{MESSAGE}"}}}}',
    "tagged": f'<tool_call>\n{{"name": "respond", "arguments": {{"message": "{MESSAGE}"}}}}\n</tool_call>',
    "spaced": f'respond( message = "{MESSAGE}" )',
}


def previewed(written: str, size: int = 1) -> list[str]:
    preview = ReplyPreview()
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    return [told for piece in pieces if (told := preview.feed(piece))]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("written", NOTATIONS.values(), ids=NOTATIONS)
def test_the_preview_grows_with_the_reply(written: str, size: int) -> None:
    told = previewed(written, size)
    assert told[-1] == MESSAGE
    assert all(MESSAGE.startswith(words) for words in told)


@pytest.mark.parametrize(
    "written",
    [
        '[turn_on(name="lamp")]',
        "To respond is human.",
        '[turn_on(name="the lamp in the corner of the living room", area="living room", floor="ground"), '
        'respond(message="Done.")]',
        '[responder(message="no")]',
        "",
    ],
)
def test_other_calls_have_no_preview(written: str) -> None:
    assert previewed(written) == []


def test_the_preview_ends_at_an_escaped_character() -> None:
    assert previewed(r'[respond(message="Say \"hello\" to them.")]')[-1] == "Say "


def test_nothing_is_previewed_after_the_end() -> None:
    preview = ReplyPreview()
    assert preview.feed('[respond(message="Yes.")') == "Yes."
    assert preview.feed(']respond(message="No.")') == ""
