"""What people say to a home: places, things, values, and a grammar of phrasings for every home tool."""
