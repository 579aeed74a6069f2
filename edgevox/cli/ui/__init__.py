"""Terminal output and input that several commands share."""
