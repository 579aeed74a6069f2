"""Fuzzing: programs that look for input which breaks a part, for as long as they are told to."""
