"""Inference from class sizes of a sample to the population, for risks and models."""
