"""Clauses of a command that no tool has a slot for, and relative changes: read by rule, applied to the calls."""
