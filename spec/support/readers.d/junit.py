"""Prints what junitparser makes of a file, as JSON."""
import json
import sys

from junitparser import JUnitXml

report = JUnitXml.fromfile(sys.argv[1])


def counts(of):
    return {"tests": of.tests, "failures": of.failures, "errors": of.errors, "skipped": of.skipped}


suites = []
for suite in report:
    told = counts(suite)
    cases = [
        {
            "name": case.name,
            "rule": case.classname,
            "results": [
                {"is": type(result).__name__, "message": result.message, "type": result.type, "text": result.text}
                for result in case.result
            ],
        }
        for case in suite
    ]
    suite.update_statistics()  # what it counts itself
    suites.append({"name": suite.name, "told": told, "counted": counts(suite), "cases": cases})
print(json.dumps({"told": counts(report), "suites": suites}))
