"""Converts tools between EdgeVox and agent frameworks, one module per framework.

Each framework is an extra: `pip install "edgevox-assistant[langchain]"`.
"""
