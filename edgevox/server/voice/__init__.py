"""Speaking with the assistant from elsewhere, over a WebSocket: docs/guide/voice-socket.md says how."""
