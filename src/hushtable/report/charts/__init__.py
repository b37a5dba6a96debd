"""Small hand-written SVG charts with text alternatives: no library, no script, no external asset."""
