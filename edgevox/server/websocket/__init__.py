"""Voice sessions over a WebSocket; docs/guide/voice-socket.md is the specification."""
