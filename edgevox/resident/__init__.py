"""The assistant that stays: it listens until it is told to end, and can be spoken to over its socket."""
