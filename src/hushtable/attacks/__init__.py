"""The published attacks, one per file, each with its adversary's knowledge, a baseline and a confidence interval."""
