"""Agents: a model, its instructions and its memory of the conversation."""

from edgevox.agents.chat_request import run_chat_with_tools
from edgevox.agents.llm_agent import AgentResult, LLMAgent
from edgevox.agents.tool_conversation import ConversationTurn, ToolConversation

__all__ = ["AgentResult", "ConversationTurn", "LLMAgent", "ToolConversation", "run_chat_with_tools"]
