"""The registry of tool-call formats. A preset's `tool_call_parsers` are keys of DETECTORS.

A new format is a detector with its wrapper in a module of this folder, and a line in this table.
"""

from __future__ import annotations

from edgevox.llm.tool_parsers.base import BaseFormatDetector
from edgevox.llm.tool_parsers.detectors.gemma import FunctionGemmaDetector, GemmaDetector
from edgevox.llm.tool_parsers.detectors.glm import GlmDetector, HunyuanDetector
from edgevox.llm.tool_parsers.detectors.harmony import HarmonyDetector
from edgevox.llm.tool_parsers.detectors.hermes import HermesDetector, Qwen3CoderDetector, Qwen25Detector
from edgevox.llm.tool_parsers.detectors.json_formats import (
    GraniteDetector,
    JsonBareDetector,
    JsonFencedDetector,
    Llama32Detector,
    NemotronDetector,
    PhiFunctoolsDetector,
    XlamDetector,
)
from edgevox.llm.tool_parsers.detectors.mistral import MistralDetector
from edgevox.llm.tool_parsers.detectors.python_formats import (
    Lfm2Detector,
    Olmo3Detector,
    PythonicDetector,
    PythonListDetector,
)
from edgevox.llm.tool_parsers.detectors.xml_formats import GenericXmlDetector, MiniCpmDetector

DETECTORS: dict[str, type[BaseFormatDetector]] = {
    "hermes": HermesDetector,
    "qwen25": Qwen25Detector,
    "llama32": Llama32Detector,
    "mistral": MistralDetector,
    "pythonic": PythonicDetector,
    "python_list": PythonListDetector,
    "xlam": XlamDetector,
    "granite": GraniteDetector,
    "gemma": GemmaDetector,
    "qwen3_coder": Qwen3CoderDetector,
    "lfm2": Lfm2Detector,
    "functiongemma": FunctionGemmaDetector,
    "phi_functools": PhiFunctoolsDetector,
    "minicpm": MiniCpmDetector,
    "nemotron": NemotronDetector,
    "harmony": HarmonyDetector,
    "glm": GlmDetector,
    "hunyuan": HunyuanDetector,
    "olmo3": Olmo3Detector,
    "generic_xml": GenericXmlDetector,
    "json_fenced": JsonFencedDetector,
    "json_bare": JsonBareDetector,
}
