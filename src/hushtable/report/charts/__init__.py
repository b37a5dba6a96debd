"""Small SVG charts with text alternatives, drawn by hand: no library, no script, no external asset."""
