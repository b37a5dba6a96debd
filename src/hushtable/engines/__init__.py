"""The engines: local, streaming and Spark."""
