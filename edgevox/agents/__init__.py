"""Agents: a model, its instructions and its memory of the conversation."""

from edgevox.agents.llm_agent import AgentResult, LLMAgent

__all__ = ["AgentResult", "LLMAgent"]
