"""Chat requests and replies: one form inside, and the wire format of each API."""
