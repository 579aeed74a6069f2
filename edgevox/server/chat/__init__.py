"""Chat requests, independent of the wire format."""
