"""Full-domain generalisation: searches of the lattice of levels."""
