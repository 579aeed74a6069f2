"""Which plugins failed to start when the assistant last ran, for `edgevox doctor` in another process."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path

from edgevox.whole_file import write_whole

FILE_NAME = "plugins.json"

_log = logging.getLogger(__name__)


class StartTroubles:
    """A sentence for each plugin whose last start failed, in one small file; without one, nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def read(self) -> dict[str, str]:
        """The troubles by the plugin's name; none where the file cannot be read."""
        if self._path is None:
            return {}
        try:
            written = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {name: str(text) for name, text in written.items()} if isinstance(written, dict) else {}

    def note(self, starts: dict[str, str]) -> None:
        """Keep what came of these starts; an empty reason means that all is well."""
        before = self.read()
        at = f"{datetime.now().astimezone():%Y-%m-%d %H:%M}"
        failed = {name: f"{reason} ({at})" for name, reason in starts.items() if reason}
        after = {name: text for name, text in before.items() if name not in starts} | failed
        if self._path is None or after == before:
            return
        try:
            write_whole(self._path, json.dumps(after, indent=1))
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path, error.strerror)
