"""The user's folders: settings, state, downloaded models, and what lasts only as long as the program runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from edgevox.platform_support import session_folder


def _runtime_folder() -> Path:
    # Whoever keeps a state of their own has an assistant of their own: it must not be taken for another one.
    in_state = _state_folder() / "run"
    if os.environ.get("EDGEVOX_STATE_DIR"):
        return _folder("EDGEVOX_RUNTIME_DIR", in_state)
    session = session_folder()
    return _folder("EDGEVOX_RUNTIME_DIR", session / "edgevox" if session is not None else in_state)


def _state_folder() -> Path:
    return _folder("EDGEVOX_STATE_DIR", platformdirs.user_state_path("edgevox"))


def _folder(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else default


@dataclass(frozen=True, slots=True)
class Folders:
    """Four folders; none is created before something is written to it."""

    config: Path
    state: Path
    models: Path
    runtime: Path = field(default_factory=_runtime_folder)

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"


def user_folders() -> Folders:
    """The folders of this user; EDGEVOX_CONFIG_DIR, EDGEVOX_STATE_DIR, EDGEVOX_MODELS_DIR and
    EDGEVOX_RUNTIME_DIR override them.
    """
    return Folders(
        config=_folder("EDGEVOX_CONFIG_DIR", platformdirs.user_config_path("edgevox")),
        state=_state_folder(),
        models=_folder("EDGEVOX_MODELS_DIR", platformdirs.user_cache_path("edgevox") / "models"),
    )
