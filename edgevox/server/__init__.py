"""The assistant for other programs: an HTTP server that speaks as OpenAI's and Anthropic's do.

Nothing is imported here: the daemon needs `assistant` alone, and what starts without a server stays quick.
"""
