"""Sun, Sun and Wang 2011: p-, p+ and (p, alpha)-sensitive k-anonymity, Tables 1 to 11 and Figures 2 to 5.

Data: Adult's 45,222 complete records with one of eight conditions drawn at random for each, and 500,000 generated
records with the domains of the paper's CENSUS table (numeric hierarchies of value, interval and ``*``). Model 1 is
p-sensitive, model 2 p+-sensitive, model 3 (p, alpha)-sensitive k-anonymity; by default k = 3, p = 2, alpha = 1.

The curves of Figures 2 to 5 have no numbers in the text, so what the paper says about them in words is checked.
Localpk, Incognito and Clustering (k-member) run on the same encoded table. Time is CPU seconds of the algorithm alone,
the fastest of three runs (k-member: one); the band ends at the slowest, and a statement about times counts only where
bands do not overlap. Of Incognito's minimal tables the one with least distortion is shown, since that is measured.
"""

from __future__ import annotations

from hushtable.reproduce.sun_disclosures import table_10
from hushtable.reproduce.sun_examples import examples
from hushtable.reproduce.sun_figures import adult_figures, census_figures
from hushtable.reproduce.sun_global import global_tables

__all__ = ["PARTS", "SEED", "SLOW"]

SEED = 1
SLOW = ("figures-4-5", "table-10", "figures-2-3")
"""The parts to begin with."""

PARTS = {
    "examples": examples,
    "global": global_tables,
    "table-10": table_10,
    "figures-2-3": adult_figures,
    "figures-4-5": census_figures,
}
