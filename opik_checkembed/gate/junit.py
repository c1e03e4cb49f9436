"""A comparison as JUnit XML, which CI services show as tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from opik_checkembed.gate.comparison import Comparison, Verdict
from opik_checkembed.gate.decision import Decision
from opik_checkembed.gate.wording import lacking, one_sided, overview, sentence

_SUITE = "opik-checkembed gate"
# What XML 1.0 cannot hold, even as a character reference.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(comparison: Comparison, decision: Decision, *, fail_on_underpowered: bool = False) -> str:
    """One test case for each metric and threshold, and one for the items being complete.

    A metric that is worse and a threshold that does not hold are failures. An underpowered metric is skipped, or an
    error with `fail_on_underpowered` or where it keeps the gate from telling (see `decide`). That items lack a score,
    or are on one side only, is an error where it keeps the gate from telling.

    Args:
        comparison: The two runs compared.
        decision: What the gate says of it.
        fail_on_underpowered: As the decision was made with.

    Returns:
        XML in UTF-8, declaration included.
    """
    suite = ElementTree.Element("testsuite", name=_SUITE)
    for one in comparison.metrics:
        said = sentence(one, comparison.alpha)
        case = _case(suite, "metric", one.name, said)
        if one.verdict is Verdict.WORSE:
            _problem(case, "failure", said)
        elif one.verdict is Verdict.UNDERPOWERED and (one.keeps_from_telling or fail_on_underpowered):
            _problem(case, "error", said)
        elif one.verdict is Verdict.UNDERPOWERED:
            _problem(case, "skipped", said)
    for check in decision.thresholds:
        said = f"{check.threshold}: the candidate has {check.shown}"
        case = _case(suite, "threshold", str(check.threshold), said)
        if not check.passed:
            _problem(case, "error" if check.value is None else "failure", said)
    missing = [f"{one.what} ({', '.join(one.ids)})" for one in (*lacking(comparison.unscored), *one_sided(comparison))]
    case = _case(suite, "items", "every item has its scores on both sides", overview(comparison))
    if not decision.complete:
        _problem(case, "error", "\n".join([*decision.reasons, *missing]))
    elif missing:
        _problem(case, "skipped", "\n".join(missing))
    suite.set("tests", str(len(suite)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, kind: str, name: str, said: str) -> ElementTree.Element:
    case = ElementTree.SubElement(suite, "testcase", classname=f"{_SUITE}.{kind}", name=_xml(name))
    ElementTree.SubElement(case, "system-out").text = _xml(said)
    return case


def _problem(case: ElementTree.Element, kind: str, said: str) -> None:
    # Before the output, as the schema has it.
    problem = ElementTree.Element(kind, message=_xml(said.split("\n", 1)[0]))
    problem.text = _xml(said)
    case.insert(0, problem)


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
