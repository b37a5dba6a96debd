"""Learning from a release: trained on generalized cells, tested on originals, next to training on the original.

    python benchmarks/encoder.py [--k 10] [--cells counts,regions,sets] [--bins 0,8] [--boosting] [--json]

Adult, seven columns, income above 50,000 dollars: the training part is released with Mondrian, its cells are turned
into numbers by CellEncoder, and the model is tested on the original records of the test part.
"""

from __future__ import annotations

import argparse
import json

QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
TARGET = "salary-class"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--cells", default="counts,regions,intervals,sets")
    parser.add_argument("--bins", default="0,8")
    parser.add_argument("--boosting", action="store_true", help="gradient boosting too, which takes minutes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from hushtable.api import run_plan
    from hushtable.datasets import load_adult
    from hushtable.encoding import CellEncoder
    from hushtable.policy.policy import Policy

    train, test = (load_adult(part).select([*QUASI, TARGET]) for part in ("train", "test"))
    rows = []
    for bins in map(int, options.bins.split(",")):
        encoder = CellEncoder(bins=bins).fit(train.select(QUASI))
        original = _accuracies(encoder, train, test, options.boosting)
        for cells in options.cells.split(","):
            policy = Policy(quasi=QUASI, insensitive=[TARGET], models=[{"k-anonymity": {"k": options.k}}], cells=cells)
            release = run_plan(train, policy.plan())
            found = _accuracies(CellEncoder.of_release(release, bins=bins), release.table, test, options.boosting)
            for name, accuracy in found.items():
                rows.append(
                    {"model": name, "bins": bins, "cells": cells, "release": accuracy, "original": original[name]}
                )
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['model']:20} bins {row['bins']}  {row['cells']:10} release {100 * row['release']:.2f}%  "
            f"original {100 * row['original']:.2f}%  difference {100 * (row['release'] - row['original']):+.2f}"
        )


def _accuracies(encoder, train, test, boosting):
    """The share of test records that models trained on a table get right."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = {"logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))}
    if boosting:
        models["gradient boosting"] = HistGradientBoostingClassifier(random_state=0)
    given, wanted = (np.array([">50K" in v for v in t.column(TARGET).to_pylist()]) for t in (train, test))
    features, tested = encoder.transform(train.select(QUASI)), encoder.transform(test.select(QUASI))
    return {name: float((m.fit(features, given).predict(tested) == wanted).mean()) for name, m in models.items()}


if __name__ == "__main__":
    main()
