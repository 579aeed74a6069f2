"""The user's folders: settings, state and downloaded models, each where the platform wants it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Folders:
    """Three folders; none is created before something is written to it."""

    config: Path
    state: Path
    models: Path

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"


def user_folders() -> Folders:
    """The folders of this user; EDGEVOX_CONFIG_DIR, EDGEVOX_STATE_DIR, EDGEVOX_MODELS_DIR override them."""
    return Folders(
        config=_folder("EDGEVOX_CONFIG_DIR", platformdirs.user_config_path("edgevox")),
        state=_folder("EDGEVOX_STATE_DIR", platformdirs.user_state_path("edgevox")),
        models=_folder("EDGEVOX_MODELS_DIR", platformdirs.user_cache_path("edgevox") / "models"),
    )


def _folder(variable: str, default: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else default
