"""Rendering of a report as one self-contained HTML page."""
