"""Transcription of audio files, from allowed folders only."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.core.errors import AudioError
from edgevox.core.types import ToolCall
from edgevox.tools import ToolExecutor, ToolRegistry, ToolResult
from edgevox.tools.builtin import transcribe as module
from edgevox.tools.builtin.transcribe import transcribe_tool


@pytest.fixture
def memos(tmp_path: Path) -> Path:
    folder = tmp_path / "memos"
    (folder / "june").mkdir(parents=True)
    for name in ("memo.wav", "june/call.mp3"):
        (folder / name).write_bytes(b"sound")
    (tmp_path / "secret.wav").write_bytes(b"sound")
    return folder


async def heard(path: Path) -> str:
    if path.suffix == ".mp3":
        raise AudioError(f"{path.name} is damaged", hint="record it again")
    return f"words of {path.name}"


async def call(file: str, *folders: Path) -> ToolResult:
    registry = ToolRegistry([transcribe_tool(heard, folders)])
    arguments = ToolCall("1", "transcribe_audio", '{"file": "' + file.replace("\0", "\\u0000") + '"}')
    return await ToolExecutor(registry).dispatch(arguments)


async def test_a_file_in_an_allowed_folder_is_transcribed(memos: Path) -> None:
    assert (await call("memo.wav", memos)).content == '"words of memo.wav"'
    assert (await call(str(memos / "memo.wav"), memos.parent / "empty", memos)).is_error is False


@pytest.mark.parametrize(
    "file", ["../secret.wav", "june/../../secret.wav", "/etc/passwd", "link.wav", ".", "june", "a\0b", "x" * 200]
)
async def test_nothing_outside_the_folders_is_read(memos: Path, file: str) -> None:
    (memos / "link.wav").symlink_to(memos.parent / "secret.wav")
    result = await call(file, memos)
    assert result.code == "tool_error"
    assert "that may be read; there are:" in result.content
    assert "memo.wav" in result.content


async def test_a_symlink_loop_is_not_a_file(memos: Path) -> None:
    (memos / "loop.wav").symlink_to(memos / "loop.wav")
    assert (await call("loop.wav", memos)).code == "tool_error"


async def test_errors_of_a_file_are_reported(memos: Path) -> None:
    result = await call("june/call.mp3", memos)
    assert (result.code, result.content) == ("tool_error", "call.mp3 is damaged")


async def test_a_file_that_is_too_big_is_refused(memos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 4)
    assert "memo.wav is too big" in (await call("memo.wav", memos)).content


async def test_a_missing_folder_has_no_files(tmp_path: Path) -> None:
    assert "there are: none" in (await call("memo.wav", tmp_path / "nowhere")).content
