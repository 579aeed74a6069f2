"""Prompts that the default model has read in earlier tests of a run, for those that come later."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

from edgevox.core.files import PROMPTS_FOLDER

# `script/test` names a folder for all of its runs of pytest.
VARIABLE = "TEST_PROMPTS_DIR"


def share_prompts(state: Path) -> None:
    """Let an assistant with this folder for its state have them, and keep what it reads for the others."""
    prompts = state / PROMPTS_FOLDER
    if not prompts.exists():
        state.mkdir(parents=True, exist_ok=True)
        prompts.symlink_to(_shared_folder())


@functools.cache
def _shared_folder() -> Path:
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    folder = tempfile.mkdtemp(prefix="edgevox-prompts-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
