"""Words of the home generator: names of places, devices and sensors, list items, values and times."""
