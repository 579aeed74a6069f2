"""The registry of tool-call formats. A preset's `tool_call_parsers` are keys of DETECTORS.

A new format is a detector with its wrapper in a module of this folder, and a line in this table.
"""

from __future__ import annotations

from edgevox.llm.tool_parsers.base import BaseFormatDetector
from edgevox.llm.tool_parsers.detectors import (
    gemma,
    glm,
    harmony,
    hermes,
    json_formats,
    mistral,
    python_formats,
    section_formats,
    xml_formats,
)

DETECTORS: dict[str, type[BaseFormatDetector]] = {
    "hermes": hermes.HermesDetector,
    "qwen25": hermes.Qwen25Detector,
    "llama32": json_formats.Llama32Detector,
    "mistral": mistral.MistralDetector,
    "pythonic": python_formats.PythonicDetector,
    "python_list": python_formats.PythonListDetector,
    "xlam": json_formats.XlamDetector,
    "granite": json_formats.GraniteDetector,
    "gemma": gemma.GemmaDetector,
    "qwen3_coder": hermes.Qwen3CoderDetector,
    "lfm2": python_formats.Lfm2Detector,
    "functiongemma": gemma.FunctionGemmaDetector,
    "phi_functools": json_formats.PhiFunctoolsDetector,
    "minicpm": xml_formats.MiniCpmDetector,
    "nemotron": json_formats.NemotronDetector,
    "harmony": harmony.HarmonyDetector,
    "glm": glm.GlmDetector,
    "hunyuan": glm.HunyuanDetector,
    "olmo3": python_formats.Olmo3Detector,
    "deepseek": section_formats.DeepSeekDetector,
    "kimi": section_formats.KimiDetector,
    "minimax": section_formats.MiniMaxDetector,
    "command": section_formats.CommandDetector,
    "internlm": section_formats.InternLmDetector,
    "generic_xml": xml_formats.GenericXmlDetector,
    "json_fenced": json_formats.JsonFencedDetector,
    "json_bare": json_formats.JsonBareDetector,
}
