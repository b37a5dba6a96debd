"""From the data of a report to one self-contained HTML page."""
