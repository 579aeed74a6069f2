"""The API key of a remote model: read from a private file or the environment, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.config import LlmSettings
from edgevox.core.errors import ConfigError
from edgevox.llm.remote import read_key

KEY = "sk-a-secret"


def test_the_key_is_read_from_a_file_before_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o600)
    key = read_key(LlmSettings(remote_key_file=file), {"EDGEVOX_REMOTE_KEY": "other"})
    assert key is not None
    assert (key.reveal(), KEY in repr(key)) == (KEY, False)


def test_the_key_is_read_from_the_variable_that_is_set() -> None:
    for llm, name in ((LlmSettings(), "EDGEVOX_REMOTE_KEY"), (LlmSettings(remote_key_variable="MINE"), "MINE")):
        key = read_key(llm, {name: f" {KEY}\n"})
        assert key is not None
        assert key.reveal() == KEY


def test_a_missing_key_is_not_an_error() -> None:
    assert read_key(LlmSettings(), {}) is None


@pytest.mark.parametrize(
    ("content", "mode", "problem"),
    [
        (None, 0o600, "no key in"),
        ("", 0o600, "no key in"),
        (KEY, 0o644, "other users"),
        (f"{KEY}\nX-Header: 1", 0o600, "no key"),
        ("sk-ä", 0o600, "no key"),
    ],
)
def test_an_invalid_key_file_is_named_without_its_content(
    tmp_path: Path, content: str | None, mode: int, problem: str
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)
    with pytest.raises(ConfigError, match=problem) as caught:
        read_key(LlmSettings(remote_key_file=file), {})
    assert caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint
