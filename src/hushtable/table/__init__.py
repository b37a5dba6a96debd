"""The encoded table and the statistics that models see."""
