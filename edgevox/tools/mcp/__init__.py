"""MCP client: configured servers, approvals, and their tools in the registry.

Importing the SDK takes a second: only `session` and `transports` do, when a server starts.
"""

from __future__ import annotations
