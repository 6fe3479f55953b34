"""A command that an operation declares alone: its arguments and its output.

Such an operation is run as servers run it: checked, limited and measured, without a client.
"""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from asterism.cli.options import add_json, add_request, values_of
from asterism.cli.parser import EXIT_USAGE, CommandParser
from asterism.cli.setup import engine
from asterism.cli.terminal import printable, write_json
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import result_json
from asterism.operations.operation import Operation


def declare(operation: Operation, parser: CommandParser) -> None:
    """Add the arguments."""
    add_request(parser, operation.request)
    add_json(parser)


def run(operation: Operation, options: argparse.Namespace) -> int:
    """Print the reply, or the error."""
    with closing(Toolbox(engine(), Standpoint(Path.cwd()), operations=(operation,))) as toolbox:
        reply = toolbox.run(operation, values_of(operation.request, options))
    text = "\n\n".join(printable(part.text).rstrip("\n") for part in reply.parts)
    if reply.error is not None:
        sys.stderr.write(f"asterism: {text}\n")
        return EXIT_USAGE
    if options.json:
        write_json(result_json(reply))
    else:
        sys.stdout.write(f"{text}\n")
    return 0
