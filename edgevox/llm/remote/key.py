"""The key for a server: out of a file that only its user can read, or out of the environment."""

from __future__ import annotations

from collections.abc import Mapping

from edgevox.errors import ConfigError
from edgevox.settings import LlmSettings
from edgevox.settings.secret_file import Secret, read_secret


def read_key(llm: LlmSettings, environ: Mapping[str, str]) -> Secret | None:
    """None where none is set: many servers at home want none. Raises ConfigError, which does not tell it."""
    if llm.remote_key_file is not None:
        key = read_secret(llm.remote_key_file)
        if key is None:
            raise ConfigError(
                f"there is no key in {llm.remote_key_file} (llm.remote_key_file)", hint="write it there"
            )
    elif text := environ.get(llm.remote_key_variable, "").strip():
        key = Secret(text)
    else:
        return None
    if not key.reveal().isascii() or not key.reveal().isprintable():
        raise ConfigError("the key for the remote model is no key: it has signs that none has", hint=_HINT)
    return key


_HINT = "llm.remote_key_file must hold the key in one line, and nothing else"
