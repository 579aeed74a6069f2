"""Sound for programs: what was said in a file, and a text spoken."""
