"""Judges one payload again and again: json.loads, then Draft7Validator.iter_errors.

Reads one JSON request per line and answers each with one line. Times are taken in
here, so neither the start of the interpreter nor the pipe is counted.
"""

import json
import sys
import time

from jsonschema import Draft7Validator


def judge(validator, text):
    try:
        return list(validator.iter_errors(json.loads(text)))
    except (ValueError, RecursionError) as error:
        return [error]


def main():
    load = json.loads(sys.stdin.readline())
    validator = Draft7Validator(load["schema"])
    with open(load["payload"], "rb") as file:
        text = file.read()
    for line in sys.stdin:
        n = json.loads(line)
        if n == 0:
            answer = not judge(validator, text)
        else:
            start = time.perf_counter_ns()
            for _ in range(n):
                judge(validator, text)
            answer = time.perf_counter_ns() - start
        print(json.dumps(answer), flush=True)


main()
