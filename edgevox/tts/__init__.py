"""Text to speech: a reply cut into sentences, made speakable, and spoken by Piper."""
