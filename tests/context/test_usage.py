"""Is it counted what was sent, cited and called, and is advice given only where there is reason?"""

import json

import pytest

from asterism.context.sessions import advice, cited, usage_json, usage_of, use_json
from asterism.types.context import (
    Item,
    ItemKey,
    Reference,
    ReferenceKey,
    RequestMode,
    Rule,
    RuleKey,
    Tool,
    ToolKey,
)
from asterism.types.sessions import ItemUse

RULE, REFERENCE, TOOL = RuleKey("Money"), ReferenceKey("Ports"), ToolKey("web", "fetch")
ITEMS: dict[ItemKey, Item] = {
    RULE: Rule(name="Money", text="Amounts are integers of the smallest unit, never floats."),
    REFERENCE: Reference(name="Ports", text="The shop listens on 3000."),
    TOOL: Tool(server="web", name="fetch"),
}


def use(number: int, key: ItemKey, mode: RequestMode = RequestMode.agent, **more: int) -> ItemUse:
    return ItemUse(
        request=f"r{number}",
        session="s",
        agent="guide",
        key=key,
        mode=mode,
        score=0.5 if mode is RequestMode.agent else None,
        tokens=10,
        cited=bool(more.get("cited")),
        called=more.get("called", 0),
    )


def test_uses_are_added_up_by_item() -> None:
    uses = [
        use(1, RULE, RequestMode.always),
        use(2, RULE, cited=1),
        use(1, TOOL, called=2),
        use(3, RULE),
    ]
    first, second = usage_of(uses)
    assert (first.key, first.sent, first.chosen, first.cited, first.tokens) == (RULE, 3, 2, 1, 30)
    assert (second.key, second.called, second.mean_score) == (TOOL, 2, 0.5)
    assert usage_json(second)["serverName"] == "web"


def test_advice_waits_for_enough_requests() -> None:
    uses = [use(number, RULE, RequestMode.always) for number in range(9)]
    assert advice(usage_of(uses), ITEMS, 9) == []


def test_advice_names_what_is_of_no_use() -> None:
    uses = [use(number, RULE, RequestMode.always) for number in range(12)]
    uses += [use(number, TOOL) for number in range(12)]
    said = advice(usage_of(uses), ITEMS, 12)
    assert said == [
        "rule:Money was sent 12 times for 120 tokens and never spoken of: set its include mode to "
        "agent, or remove it from the session.",
        "ref:Ports was in none of 12 requests: describe it better, or remove it.",
        "tool:web.fetch was sent 12 times for 120 tokens and never called: make its description "
        "more exact, so that it is chosen less often.",
    ]


def test_what_is_used_is_left_alone() -> None:
    uses = [use(number, RULE, cited=1) for number in range(12)]
    uses += [use(number, TOOL, called=number == 3) for number in range(12)]
    assert advice(usage_of(uses), {RULE: ITEMS[RULE], TOOL: ITEMS[TOOL]}, 12) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("As the rule on money says, no floats.", [RULE]),
        ("Use integers of the smallest unit, never floats!", [RULE]),
        ("It listens on 3000, see Ports.", [REFERENCE]),
        ("moneybag, portside", []),
        ("", []),
    ],
)
def test_what_an_answer_speaks_of(answer: str, expected: list[ItemKey]) -> None:
    assert list(cited(answer, ITEMS.values())) == expected


def test_a_line_of_the_export_has_names_and_numbers_alone() -> None:
    line = json.loads(json.dumps(use_json(use(1, TOOL, called=2))))
    assert line["type"] == "tool"
    assert line["called"] == 2
    assert set(line) == {
        *("request", "session", "agent", "type", "name", "serverName", "includeMode"),
        *("similarityScore", "tokens", "cited", "called", "at"),
    }
