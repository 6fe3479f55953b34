"""Runs as Markdown tables: one run by category and language, and two runs side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from asterism.evaluation.replies import REPLY_CUTS, ReplyMeasures
from asterism.evaluation.runs import (
    FUNCTION_CUTS,
    SHORT_LIST,
    TOKEN_BUDGET,
    FunctionMeasures,
    QueryResult,
    Run,
)
from asterism.evaluation.summaries import (
    GROUPS_AT_LEAST,
    BootstrapOptions,
    Difference,
    answerable,
    averages,
    grouped,
    interval,
    mean,
    median_first_tokens,
    paired_difference,
    percentile,
    times,
)
from asterism.types.errors import UsageError

Rows: TypeAlias = Sequence[Sequence[str]]

# Shown in place of a missing value.
NOTHING = "–"


def table(head: Sequence[str], rows: Rows) -> list[str]:
    """The lines of a table; all columns but the first hold numbers."""
    cells = [[_cell(cell) for cell in row] for row in (head, *rows)]
    # A rule needs a dash and a colon.
    widths = [max(2, *map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths) for row in cells]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [lines[0], f"| {' | '.join(rules)} |", *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if at else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"| {' | '.join([first, *rest])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


Measure: TypeAlias = Callable[[QueryResult], float]

# The name of a group whose queries say nothing of themselves.
UNNAMED = "(none)"

_METHOD = (
    "Intervals hold 95 % of {draws:,} draws: of whole repositories where a row has at least "
    f"{GROUPS_AT_LEAST}, else of queries."
)


def run_tables(run: Run, options: BootstrapOptions = BootstrapOptions()) -> str:  # noqa: B008
    """One run: its figures in all, by category and by language, and what it cost."""
    columns = _columns(run.limit)
    head = ("queries", "n", f"NDCG@{run.limit}", "interval", *list(columns)[1:], "tokens to first")
    parts = [f"## {run.name} on {run.dataset}", ""]
    results = answerable(run.results)
    for title, groups in _groupings(results):
        rows = [_row(name, found, columns, options) for name, found in groups.items()]
        parts += [*table((title, *head[1:]), rows), ""]
    means = averages(results, lambda result: result.measures.ndcg)
    parts += [
        f"NDCG@{run.limit} as the mean of repositories {means.repositories:.4f}, of languages "
        f"{means.languages:.4f}. Paths are compared by {run.match.value} match; scope "
        f"{run.scope}. {_METHOD.format(draws=options.draws)}",
        "",
        *_costs(run),
    ]
    return "\n".join(parts)


def comparison_tables(
    before: Run,
    after: Run,
    options: BootstrapOptions = BootstrapOptions(),  # noqa: B008 - immutable
) -> str:
    """What changed from one run to the other, on the queries that both have."""
    pairs = paired(before, after)
    columns = _compared_columns(pairs, after.limit)
    names = (before.name, after.name) if before.name != after.name else ("before", "after")
    head = ("n", *names, "difference", "interval", "gain likely", "better", "worse")
    parts = [f"## {after.name} against {before.name} on {after.dataset}", ""]
    rows = [_compared(name, pairs, measure, options) for name, measure in columns.items()]
    parts += [*table(("measure", *head), rows), ""]
    ndcg = columns[f"NDCG@{after.limit}"]
    known = {new.id: (old, new) for old, new in pairs}
    for title, groups in list(_groupings([new for _, new in pairs]))[1:]:
        rows = [
            _compared(name, [known[result.id] for result in found], ndcg, options)
            for name, found in groups.items()
        ]
        parts += [*table((f"NDCG@{after.limit} by {title}", *head), rows), ""]
    left_out = sum(len(answerable(run.results)) for run in (before, after)) - 2 * len(pairs)
    if left_out:
        parts += [f"{left_out:,} results are of queries that only one of the runs has.", ""]
    parts += [_METHOD.format(draws=options.draws), "", *_costs(before, after)]
    return "\n".join(parts)


def differences(
    before: Run,
    after: Run,
    options: BootstrapOptions = BootstrapOptions(),  # noqa: B008 - immutable
) -> Mapping[str, Difference]:
    """What changed in each measure, over all queries that both runs have."""
    pairs = paired(before, after)
    return {
        name: _difference(pairs, measure, options)
        for name, measure in _compared_columns(pairs, after.limit).items()
    }


def _compared_columns(
    pairs: Sequence[tuple[QueryResult, QueryResult]], limit: int
) -> Mapping[str, Measure]:
    return {**_columns(limit), **_symbol_columns([one for pair in pairs for one in pair])}


def paired(before: Run, after: Run) -> list[tuple[QueryResult, QueryResult]]:
    """The results of both runs for each query that both have; both need the same labels."""
    for what in ("limit", "match"):
        old, new = getattr(before, what), getattr(after, what)
        if old != new:
            raise UsageError(
                f"The runs have another {what}: {old} and {new}; make one of them again."
            )
    known = {result.id: result for result in answerable(before.results)}
    pairs = [(known[result.id], result) for result in after.results if result.id in known]
    if not pairs:
        raise UsageError("The runs have no query in common; compare runs of one dataset.")
    return pairs


def _columns(limit: int) -> Mapping[str, Measure]:
    return {
        f"NDCG@{limit}": lambda one: one.measures.ndcg,
        f"NDCG@{SHORT_LIST}": lambda one: one.measures.ndcg5,
        "hit@1": lambda one: one.measures.hit1,
        f"recall@{limit}": lambda one: one.measures.recall,
        f"MRR@{limit}": lambda one: one.measures.mrr,
        f"file NDCG@{limit}": lambda one: one.measures.file_ndcg,
        f"named in {TOKEN_BUDGET:,} tokens": lambda one: one.measures.budget_recall,
        f"lines in {TOKEN_BUDGET:,} tokens": lambda one: one.measures.budget_lines_recall,
        f"code in {TOKEN_BUDGET:,} tokens": lambda one: one.measures.budget_code_recall,
    }


def _symbol_columns(results: Sequence[QueryResult]) -> Mapping[str, Measure]:
    """What is known of functions and replies of every result."""
    columns: dict[str, Measure] = {}
    if results and all(one.functions is not None for one in results):
        columns |= {
            f"function@{cut}": partial(_function_measure, number)
            for number, cut in enumerate(FUNCTION_CUTS)
        }
    if results and all(one.reply is not None for one in results):
        columns |= {
            f"reply in {tokens:,} tokens": partial(_reply_measure, number)
            for number, tokens in enumerate(REPLY_CUTS)
        }
    return columns


def _function_measure(number: int, result: QueryResult) -> float:
    assert isinstance(result.functions, FunctionMeasures)
    return result.functions[number]


def _reply_measure(number: int, result: QueryResult) -> float:
    assert isinstance(result.reply, ReplyMeasures)
    return result.reply[number]


def symbol_tables(run: Run, options: BootstrapOptions = BootstrapOptions()) -> str:  # noqa: B008
    """Functions in the list and symbols in the reply, by category and repository."""
    results = answerable(run.results)
    columns = _symbol_columns(results)
    if not columns:
        return ""
    shown = {f"NDCG@{run.limit}": _columns(run.limit)[f"NDCG@{run.limit}"], **columns}
    has_replies = results[0].reply is not None
    sizes = ("results", "tokens p50", "tokens p90", "wanted code") if has_replies else ()
    groupings = [*_groupings(results)]
    if len(by_repository := grouped(results, lambda one: one.repo)) > 1:
        groupings.append(("repository", by_repository))
    parts = [f"## {run.name} on {run.dataset}, by symbol", ""]
    for title, groups in groupings:
        rows = [
            [name, f"{len(found):,}", *_means(found, shown, options), *_sizes(found)]
            for name, found in groups.items()
        ]
        head = (title, "n", *shown, "interval", *sizes)
        parts += [*table(head, rows), ""]
    silent = [one for one in run.results if not one.is_answerable and one.reply is not None]
    if silent:
        with_code = sum(one.reply is not None and one.reply.results > 0 for one in silent)
        parts += [
            f"Code is shown for {with_code:,} of {len(silent):,} queries without an answer "
            f"({with_code / len(silent):.0%}).",
            "",
        ]
    return "\n".join(parts)


def _means(
    results: Sequence[QueryResult], columns: Mapping[str, Measure], options: BootstrapOptions
) -> list[str]:
    """The mean of each measure, and the interval of the last one."""
    values = [[measure(one) for one in results] for measure in columns.values()]
    sure = interval(values[-1], [one.repo for one in results], options)
    return [*(f"{mean(column):.3f}" for column in values), f"{sure.low:.3f} to {sure.high:.3f}"]


def _sizes(results: Sequence[QueryResult]) -> list[str]:
    """How large replies are, and how much of those that show a wanted symbol is its code."""
    replies = [one.reply for one in results if one.reply is not None]
    if not replies:
        return []
    tokens = [reply.tokens for reply in replies]
    right = [reply.wanted_share for reply in replies if reply.recall_8000 > 0]
    return [
        f"{percentile([reply.results for reply in replies], 50):g}",
        f"{percentile(tokens, 50):,.0f}",
        f"{percentile(tokens, 90):,.0f}",
        f"{mean(right):.0%}" if right else NOTHING,
    ]


def _groupings(
    results: Sequence[QueryResult],
) -> Iterator[tuple[str, Mapping[str, Sequence[QueryResult]]]]:
    yield "queries", {"all": results}
    for title, key in (("category", _category), ("language", _language)):
        groups = grouped(results, key)
        if len(groups) > 1:
            yield title, groups


def _category(result: QueryResult) -> str:
    return result.category or UNNAMED


def _language(result: QueryResult) -> str:
    return result.language or UNNAMED


def _row(
    name: str,
    results: Sequence[QueryResult],
    columns: Mapping[str, Measure],
    options: BootstrapOptions,
) -> list[str]:
    values = [[measure(result) for result in results] for measure in columns.values()]
    sure = interval(values[0], [result.repo for result in results], options)
    tokens = median_first_tokens(results)
    return [
        name,
        f"{len(results):,}",
        f"{sure.mean:.4f}",
        f"{sure.low:.3f} to {sure.high:.3f}",
        *(f"{mean(column):.4f}" for column in values[1:]),
        NOTHING if tokens is None else f"{tokens:,}",
    ]


def _compared(
    name: str,
    pairs: Sequence[tuple[QueryResult, QueryResult]],
    measure: Measure,
    options: BootstrapOptions,
) -> list[str]:
    before = [measure(old) for old, _ in pairs]
    after = [measure(new) for _, new in pairs]
    change = _difference(pairs, measure, options)
    return [
        name,
        f"{len(pairs):,}",
        f"{mean(before):.4f}",
        f"{mean(after):.4f}",
        f"{change.mean:+.4f}",
        f"{change.low:+.4f} to {change.high:+.4f}",
        f"{change.chance_of_gain:.1%}",
        f"{sum(new > old for old, new in zip(before, after, strict=True)):,}",
        f"{sum(new < old for old, new in zip(before, after, strict=True)):,}",
    ]


def _difference(
    pairs: Sequence[tuple[QueryResult, QueryResult]], measure: Measure, options: BootstrapOptions
) -> Difference:
    return paired_difference(
        [measure(old) for old, _ in pairs],
        [measure(new) for _, new in pairs],
        [new.repo for _, new in pairs],
        options,
    )


def _costs(*runs: Run) -> list[str]:
    head = (
        *("cost", "query p50", "query p90", "query p50 CPU", "query p90 CPU", "index"),
        *("index CPU", "peak memory"),
    )
    rows = []
    for run in runs:
        spent = times(run)
        rows.append(
            [
                run.name,
                f"{spent.query_p50_ms:.2f} ms",
                f"{spent.query_p90_ms:.2f} ms",
                f"{spent.query_p50_cpu_ms:.2f} ms",
                f"{spent.query_p90_cpu_ms:.2f} ms",
                f"{spent.index_seconds:.1f} s",
                f"{spent.index_cpu_seconds:.1f} s",
                f"{spent.peak_bytes / 2**20:,.0f} MiB",
            ]
        )
    return [*table(head, rows), ""]
