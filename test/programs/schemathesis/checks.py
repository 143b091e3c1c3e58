"""The check of Schemathesis that a valid request is accepted, apart from the refusals that schemathesis.toml declares.

Owns: what counts as declared. Rule: a declared refusal is known by its operation, its code and its sentence; any other refusal of that
operation is a finding.
"""

import re

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance


@schemathesis.check
class AcceptedWhenValid:
    def __init__(self, declared):
        self.declared = [
            (set(one["operations"]), one["code"], re.compile(one["message"], re.DOTALL)) for one in declared
        ]

    def after_response(self, ctx, response, case):
        if has_forbidden_header(case):
            return None
        if self.is_declared(response, case.operation.definition.raw.get("operationId")):
            return None
        return positive_data_acceptance(ctx, response, case)

    def is_declared(self, response, operation):
        if response.status_code < 400:
            return False
        try:
            problem = response.json()
        except ValueError:
            return False
        return any(
            ("*" in operations or operation in operations)
            and problem.get("code") == code
            and message.search(problem.get("message", ""))
            for operations, code, message in self.declared
        )


def has_forbidden_header(case):
    """The coverage phase (4.32.5) puts 0 into headers whose pattern forbids it, and calls some of these requests valid."""
    headers = case.headers or {}
    return any(
        not re.search(parameter["schema"].get("pattern", ""), headers.get(parameter["name"], ""))
        for parameter in case.operation.definition.raw.get("parameters", [])
        if parameter["in"] == "header" and parameter["name"] in headers
    )
