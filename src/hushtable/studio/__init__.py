"""The studio: a local web app that takes a table to a verified release. Thin: it iterates the registry."""
