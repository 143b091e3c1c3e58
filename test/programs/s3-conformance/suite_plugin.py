"""What pytest does for `npm run s3-conformance`: leaves tests out, splits them, ends those that hang, and writes a line for each.

S3_CONFORMANCE is a JSON object: `names` are the tests that run in this process, or null to list all with their marks; `lines` is the file
for the outcomes; `seconds` is the time limit of one test.
"""
import json
import os
import signal

import pytest

GIVEN = json.loads(os.environ["S3_CONFORMANCE"])
LINES = open(GIVEN["lines"], "a", encoding="utf-8")


class TookTooLong(BaseException):
    pass


def write(line):
    LINES.write(json.dumps(line) + "\n")
    LINES.flush()


def pytest_collection_modifyitems(config, items):
    if GIVEN["names"] is None:
        for item in items:
            write({"name": item.name, "file": item.location[0], "marks": sorted({mark.name for mark in item.iter_markers()})})
        items[:] = []
        return
    wanted = set(GIVEN["names"])
    config.hook.pytest_deselected(items=[item for item in items if item.name not in wanted])
    # Tests of names of buckets last: some leave a bucket behind, and others expect a tenant without buckets.
    items[:] = sorted((item for item in items if item.name in wanted), key=lambda item: "naming" in item.name)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    def end(number, frame):
        raise TookTooLong(f"ran for more than {GIVEN['seconds']} s")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(GIVEN["seconds"])
    yield
    signal.alarm(0)


def reason_of(report):
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(report.longrepr) if crash is None else f"line {crash.lineno}: {crash.message}"


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        name = report.nodeid.split("::")[-1]
        line = {"name": name, "when": report.when, "outcome": report.outcome, "seconds": report.duration}
        write({**line, "why": reason_of(report)[-2000:]})
