"""Estimates pi by throwing points at a square, as input.csv says, on as many processes as there are tasks."""

import csv
import os
import random
from concurrent.futures import ProcessPoolExecutor


def hits(seed: int, points: int) -> int:
    """Points that fell into the circle."""
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 <= 1.0 for _ in range(points))


def main() -> None:
    """Read input.csv, write result.csv."""
    with open("input.csv", newline="", encoding="utf-8") as file:
        rows = [(int(row["seed"]), int(row["points"])) for row in csv.DictReader(file)]
    with ProcessPoolExecutor(int(os.environ.get("DRAGOMAN_TASKS", "1"))) as pool:
        inside = list(pool.map(hits, *zip(*rows, strict=True)))
    total = sum(points for _, points in rows)
    estimate = 4 * sum(inside) / total
    with open("result.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("points", "pi"), (total, f"{estimate:.6f}")])
    print(f"pi is about {estimate:.6f} by {total} points")


if __name__ == "__main__":
    main()
