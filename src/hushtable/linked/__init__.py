"""People and their events: linked tables under one policy and one promise."""
