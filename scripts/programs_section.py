"""Describes the programs that Asterism starts, as a section of `docs/security.md`."""

from asterism.programs.table import PROGRAMS, SYSTEM_FILES, Files, Program


def programs_section() -> str:
    """One overview of all programs, then the details of each."""
    lines = [
        "| program | what for | starts for | network | files |",
        "| --- | --- | --- | --- | --- |",
        *(_row(program) for program in PROGRAMS),
        "",
        *(line for program in PROGRAMS for line in _details(program)),
        "`{root}` is the repository, `{cache}` a directory of Asterism's own for it, "
        "`{environment}` its Python environment or the active one. `{directory}` is Asterism's "
        "data directory for tool servers, and the current directory for the others.",
        "",
        f"Every fenced program may also read and run {_listed(SYSTEM_FILES)} and the folder that "
        "it is installed in.",
        "",
    ]
    return "\n".join(lines)


def _row(program: Program) -> str:
    network = "as the user" if program.limits.network else "none"
    files = "as the user" if program.files is Files.all else "fenced"
    who = {"always": "every repository"}.get(program.consent.value, program.consent.value)
    cells = (f"`{program.name}`", program.purpose, who, network, files)
    return f"| {' | '.join(cells)} |"


def _details(program: Program) -> list[str]:
    limits = program.limits
    held = [
        *([f"{limits.memory_times:g} × the memory setting"] if limits.memory_times else []),
        *([f"{limits.cpu_seconds:,} s of CPU time"] if limits.cpu_seconds else []),
        *([f"{limits.processes:,} more processes and threads"] if limits.processes else []),
    ]
    names = "everything" if program.inherits == ("*",) else _listed(program.inherits)
    fixed = [f"{name}={value}" for name, value in (program.variables or {}).items()]
    lines = [f"### `{program.name}`", ""]
    lines.append(f"- Arguments: {_listed(program.arguments) or 'none'}.")
    if program.probe:
        lines.append(f"- Asked whether it works with: {_listed(program.probe)}.")
    lines.append(f"- Environment: {names}{'; set: ' + _listed(fixed) if fixed else ''}.")
    lines.append(f"- Works in: `{program.directory or '/'}`.")
    if held:
        lines.append(f"- Limits: {', '.join(held)}.")
    if program.files is Files.named:
        reads = f"reads {_listed(program.reads)}"
        writes = f", writes {_listed(program.writes)}" if program.writes else ", writes nothing"
        lines.append(f"- Files: {reads}{writes}.")
    return [*lines, ""]


def _listed(words: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
