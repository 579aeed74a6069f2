"""The tests of a client library are for the environment that has it, which script/frameworks makes.

In others they are not collected: a skip would say that something was left out.
"""

from __future__ import annotations

import importlib.util
import os

_PACKAGES = {
    "instructor": "instructor",
    "litellm": "litellm",
    "livekit": "livekit.agents",  # EdgeVox itself has the livekit package, for echo cancellation
    "pipecat": "pipecat",
    "pydantic_ai": "pydantic_ai",
}
collect_ignore = [f"test_{name}.py" for name, package in _PACKAGES.items() if importlib.util.find_spec(package) is None]
# LiteLLM would download its price list when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
