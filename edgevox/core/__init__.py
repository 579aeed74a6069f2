"""Types, errors, events and operating-system helpers that every layer may import."""
