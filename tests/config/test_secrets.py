"""Secrets on disk and in memory: readable by their owner only, and never printed."""

from __future__ import annotations

import logging
import pickle
import stat
from pathlib import Path

import pytest

from edgevox.config.secrets import Secret, read_secret, write_secret
from edgevox.core.errors import ConfigError

TOKEN = "not-for-your-eyes"


def test_a_secret_survives_a_round_trip_and_is_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "config" / "token"
    write_secret(path, f" {TOKEN}\n")
    secret = read_secret(path)
    assert secret is not None
    assert secret.reveal() == TOKEN
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_secret_replaces_a_readable_one(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")
    path.chmod(0o644)
    write_secret(path, TOKEN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_readable_by_others_is_refused_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_secret(path, TOKEN)
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="other users") as caught:
        read_secret(path)
    assert "chmod 600" in caught.value.hint
    assert TOKEN not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize("content", [None, "", "  \n"])
def test_a_missing_or_empty_file_gives_no_secret(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "token"
    if content is not None:
        write_secret(path, content)
    assert read_secret(path) is None


def test_a_secret_is_never_printed(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(TOKEN)
    logging.getLogger("edgevox").warning("with %s and %r", secret, {"token": secret})
    assert TOKEN not in f"{secret} {secret!r} {[secret]} {caplog.text}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
