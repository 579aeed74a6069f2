"""OpenAI's Realtime API over a voice session; docs/guide/realtime.md lists every event."""
