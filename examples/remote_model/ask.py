"""Asks the model that config.toml in this folder names: python ask.py "Turn on the kitchen light." """

from __future__ import annotations

import os
import sys
from pathlib import Path

from edgevox import open_assistant

os.environ["EDGEVOX_CONFIG_DIR"] = str(Path(__file__).parent)

with open_assistant() as ask:
    print(ask(" ".join(sys.argv[1:])))
