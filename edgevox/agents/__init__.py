"""Agents: a model, its instructions and its memory of the conversation."""

from edgevox.agents.chat_request import run_chat_with_tools
from edgevox.agents.llm_agent import AgentResult, LLMAgent, ReplyAgent
from edgevox.agents.tool_conversation import ConversationTurn, ToolConversation
from edgevox.agents.tool_loop import Agreement, Confirm

__all__ = [
    "AgentResult",
    "Agreement",
    "Confirm",
    "ConversationTurn",
    "LLMAgent",
    "ReplyAgent",
    "ToolConversation",
    "run_chat_with_tools",
]
