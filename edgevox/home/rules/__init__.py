"""Requests that are understood by rule, beside the model: each module reads one kind into calls."""
