"""What every command gets: where to write what was asked for, where everything else, the settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import Console

from edgevox.audio.speaker import Speaker
from edgevox.errors import ConfigError, EdgevoxError
from edgevox.folders import Folders, user_folders
from edgevox.settings import Settings, load_settings


@dataclass
class Context:
    """`out` is for what was asked for, `err` for all else; `flags` are settings from the command line."""

    out: Console = field(default_factory=lambda: Console(highlight=False))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    flags: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def folders(self) -> Folders:
        return user_folders()

    @cached_property
    def settings(self) -> Settings:
        """Every setting, from all of its sources. Raises ConfigError."""
        return load_settings(self.folders, flags=self.flags)

    def speaker(self) -> Speaker:
        """The loudspeaker that the settings choose. Raises DeviceUnavailable."""
        audio = self.settings.audio
        return Speaker(audio.speaker, lead_in_ms=audio.lead_in_ms)

    @property
    def chosen_preset(self) -> str | None:
        """The preset's name, or None while the settings cannot be read."""
        try:
            return self.settings.preset
        except ConfigError:
            return None

    def complain(self, error: EdgevoxError) -> None:
        """Tell a person what went wrong and what to do."""
        self.err.print(f"edgevox: {error.message}", style="red", markup=False, soft_wrap=True)
        if error.hint:
            self.err.print(f"  → {error.hint}", markup=False, soft_wrap=True)

    def write(self, text: str) -> None:
        """Put text for a program on standard output, as it is and with a line end."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
