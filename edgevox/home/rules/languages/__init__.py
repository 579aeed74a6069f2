"""Home commands and answers in other languages than English."""
