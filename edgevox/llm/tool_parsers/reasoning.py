"""How the families mark reasoning, and which calls count inside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningStyle:
    """One way to mark reasoning. `calls_count`: marked calls inside it are calls (small Qwen3s do that)."""

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    calls_count: bool = True


THINK = ReasoningStyle(("<think>",), ("</think>",))
THINKING = ReasoningStyle(("<thinking>",), ("</thinking>",))
MISTRAL = ReasoningStyle(("[THINK]",), ("[/THINK]",), calls_count=False)
GEMMA = ReasoningStyle(("<|channel>", "<|channel>thought", "<|channel>thought\n"), ("<channel|>",))
# Harmony's headers are read by its detector; these end the message that a header began.
HARMONY = ReasoningStyle((), ("<|end|>", "<|return|>", "<|call|>"))

STYLES = (THINK, THINKING, MISTRAL, GEMMA)
# Opened by the chat template: which style it is shows only at its end.
TEMPLATE_OPENED = ReasoningStyle((), tuple(end for style in STYLES for end in style.ends))
