"""Sound: files, devices, and finding the speech in it."""
