"""The evidence file that a data protection officer signs, as one offline HTML file and as JSON."""
