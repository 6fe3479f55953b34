"""A command that an operation declares alone: its arguments and its output."""

import argparse
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from asterism.cli.options import add_json, add_request, request_from
from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine
from asterism.cli.terminal import printable, write_json
from asterism.operations.calls import Call
from asterism.operations.limits import limit_for, result_json
from asterism.operations.operation import Operation
from asterism.operations.repositories import Standpoint


def declare(operation: Operation, parser: CommandParser) -> None:
    """Add the arguments."""
    add_request(parser, operation.request)
    add_json(parser)


def run(operation: Operation, options: argparse.Namespace) -> int:
    """Print the reply to the request."""
    request = request_from(operation.request, options)
    with closing(engine()) as here:
        call = Call(
            engine=here,
            here=Standpoint(Path.cwd()),
            arguments=asdict(request),
            limit=limit_for(None),
        )
        reply = operation.run(call, request)
    if options.json:
        write_json(result_json(reply))
    else:
        texts = [printable(part.text).rstrip("\n") for part in reply.parts]
        sys.stdout.write("\n\n".join(texts) + "\n")
    return 0
