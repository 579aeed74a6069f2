"""The formats that are known by name. A preset's `tool_call_parsers` are keys of DETECTORS."""

from __future__ import annotations

from edgevox.llm.tool_parsers.base import BaseFormatDetector
from edgevox.llm.tool_parsers.detectors.functiongemma import FunctionGemmaDetector
from edgevox.llm.tool_parsers.detectors.gemma import GemmaDetector
from edgevox.llm.tool_parsers.detectors.generic_xml import GenericXmlDetector
from edgevox.llm.tool_parsers.detectors.glm import GlmDetector
from edgevox.llm.tool_parsers.detectors.granite import GraniteDetector
from edgevox.llm.tool_parsers.detectors.harmony import HarmonyDetector
from edgevox.llm.tool_parsers.detectors.hermes import HermesDetector
from edgevox.llm.tool_parsers.detectors.hunyuan import HunyuanDetector
from edgevox.llm.tool_parsers.detectors.json_bare import JsonBareDetector
from edgevox.llm.tool_parsers.detectors.json_fenced import JsonFencedDetector
from edgevox.llm.tool_parsers.detectors.lfm2 import Lfm2Detector
from edgevox.llm.tool_parsers.detectors.llama32 import Llama32Detector
from edgevox.llm.tool_parsers.detectors.minicpm import MiniCpmDetector
from edgevox.llm.tool_parsers.detectors.mistral import MistralDetector
from edgevox.llm.tool_parsers.detectors.nemotron import NemotronDetector
from edgevox.llm.tool_parsers.detectors.olmo3 import Olmo3Detector
from edgevox.llm.tool_parsers.detectors.phi_functools import PhiFunctoolsDetector
from edgevox.llm.tool_parsers.detectors.python_list import PythonListDetector
from edgevox.llm.tool_parsers.detectors.pythonic import PythonicDetector
from edgevox.llm.tool_parsers.detectors.qwen3_coder import Qwen3CoderDetector
from edgevox.llm.tool_parsers.detectors.qwen25 import Qwen25Detector
from edgevox.llm.tool_parsers.detectors.xlam import XlamDetector

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
