"""What a conversation refers to: recent effects, pronouns, corrections, undo and questions about the past."""
