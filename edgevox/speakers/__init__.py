"""Speaker recognition: an embedding of each utterance, compared with those of the enrolled people."""
