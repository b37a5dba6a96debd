"""The evidence file: what a protection officer signs, as one offline HTML file and as JSON."""
