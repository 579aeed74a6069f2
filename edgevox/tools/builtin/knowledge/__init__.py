"""Answers that need no model: arithmetic, units, the time elsewhere, dates, chance and spelling."""

from edgevox.tools.builtin.knowledge.hook import KnowledgeQuestions, read_question
from edgevox.tools.builtin.knowledge.tools import knowledge_tools

__all__ = ["KnowledgeQuestions", "knowledge_tools", "read_question"]
