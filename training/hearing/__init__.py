"""Teaching the recogniser the words that are said to a home: a LoRA adapter on Whisper."""
