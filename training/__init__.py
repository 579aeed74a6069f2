"""How the home model is made: examples, training, export. Nothing here is imported by the product."""
