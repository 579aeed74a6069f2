"""Prompts: chat templates, the text of tools and messages, and their tokens."""
