"""Suites for the tests: rows with all that a row must have, and a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgevox.agents.model_profile import ModelProfile
from edgevox.audio.files import write_wav
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.eval import Case, Result, read_suite, run_cases
from edgevox.testing import ScriptedModel

ONE_SECOND = Audio(np.sin(np.arange(SAMPLE_RATE_HZ) / 10).astype(np.float32) * 0.3, SAMPLE_RATE_HZ)

LIGHT_ON = {"name": "turn_on", "arguments": {"name": "kitchen light"}}
LIGHT_ON_STATE = {"light.kitchen": {"state": "on", "brightness": 100}}
PRICE = {
    "type": "function",
    "function": {
        "name": "get_price",
        "description": "The price of a share",
        "parameters": {
            "type": "object",
            "properties": {"share": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["share"],
        },
        "examples": ["what does Siemens cost"],
    },
}


def row(**keys: Any) -> dict[str, Any]:
    return {"id": "one", "category": "lights", "utterance": "kitchen light on", "expect": {"calls": [LIGHT_ON]}, **keys}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "suite.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in rows))
    return path


def recording(folder: Path, file: str = "1.wav", **keys: Any) -> dict[str, Any]:
    """A row with a second of sound in a file."""
    write_wav(folder / file, [ONE_SECOND])
    return row(id=file, file=file, **keys)


def calls(*made: dict[str, Any]) -> str:
    """What a model writes to make the calls."""
    return "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in made)


def scripted(lines: Sequence[str], **how: Any) -> tuple[ModelProfile, ScriptedModel]:
    model = ScriptedModel(lines)
    return ModelProfile(model, parsers=("hermes",), **how), model


async def results(cases: Sequence[Case], *lines: str) -> list[Result]:
    asked, _model = scripted(lines)
    return [result async for result in run_cases(asked, cases)]


async def result(folder: Path, case: dict[str, Any], *lines: str) -> Result:
    (only,) = await results(read_suite(write(folder, case)), *lines)
    return only
