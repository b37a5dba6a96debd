"""What a report says, as data: the page and the JSON file are both made of it."""
