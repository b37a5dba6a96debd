"""The web application: the server, what it lets through, and the pages and endpoints at their addresses."""
