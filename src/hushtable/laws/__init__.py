"""What class sizes of a sample say about the population: laws that risks measure with and models bound."""
