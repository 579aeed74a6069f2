"""The page at `/`: files that a browser gets as they are, and the rules it has to keep with them."""
