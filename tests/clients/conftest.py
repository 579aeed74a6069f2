"""The tests of a client library are for the environment that has it, which script/frameworks makes.

In others they are not collected: a skip would say that something was left out.
"""

from __future__ import annotations

import importlib.util
import os

collect_ignore = [
    f"test_{package}.py"
    for package in ("instructor", "litellm", "pipecat", "pydantic_ai")
    if importlib.util.find_spec(package) is None
]
# LiteLLM would download its price list when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
