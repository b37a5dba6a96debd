"""The contents of a report as data, from which the page and the JSON file are made."""
