"""`report`: points per exercise over the class, and the usual mistakes."""

import json
from collections import Counter, defaultdict

from autograder import course
from autograder.export import read_results


def add_arguments(parser):
    """Options of `report`."""
    course.add_course_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args):
    """Print one line for each exercise, the hardest first."""
    rows = summary(read_results(course.course_from(args)))
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    for row in rows:
        print(f"{row['mean']:6.0%} {row['exercise']} ({row['count']})")
        for message, count in row["messages"]:
            print(f"{'':7}{count} × {message}")
    return 0


def summary(results):
    """Return per exercise: mean share of points, count, top messages."""
    shares, messages = defaultdict(list), defaultdict(Counter)
    for result in results:
        for part in result["exercises"]:
            name = f"{result['assignment']}/{result['notebook']}/{part['id']}"
            if not part["manual"] and part["max_score"]:
                shares[name].append(part["score"] / part["max_score"])
                if part["message"]:
                    messages[name][part["message"]] += 1
    rows = [
        {
            "exercise": name,
            "mean": sum(values) / len(values),
            "count": len(values),
            "messages": messages[name].most_common(3),
        }
        for name, values in shares.items()
    ]
    return sorted(rows, key=lambda row: row["mean"])
