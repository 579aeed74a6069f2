"""Acoustic echo cancellation (AEC): removes the assistant's own voice from the microphone signal."""
