"""The launchd agent of macOS. Nobody has tried it on a Mac yet."""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path

LABEL = "org.edgevox.assistant"


def agent_path(home: Path) -> Path:
    """Where the agent's file lies."""
    return home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def agent_text(command: Sequence[str], environment: Mapping[str, str], log_folder: Path) -> str:
    """The agent's file."""
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Interactive",
        "StandardErrorPath": str(log_folder / "launchd.log"),
    }
    return plistlib.dumps(content).decode()
