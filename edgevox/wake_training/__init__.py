"""Trains a wake word from synthesised speech: phrases, augmentation, the classifier and its thresholds."""
