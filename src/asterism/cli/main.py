"""The `asterism` command: arguments in, exit code out, errors as one clear line."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from asterism.cli.parser import EXIT_USAGE, lazy_parser
from asterism.cli.terminal import visible_streams
from asterism.telemetry.notices import taken
from asterism.types.errors import AsterismError
from asterism.types.files import display_path

# 128 + SIGINT, as shells report it.
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command."""
    given = sys.argv[1:] if arguments is None else arguments
    with visible_streams():
        options = lazy_parser().parse_args(given)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter shows its escape; that is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    with visible_streams():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    """The command's exit code; errors as one line."""
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except AsterismError as error:
        sys.stderr.write(f"asterism: {error}\n")
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader went away, as `| head` does; that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # Wherever a path is first looked at, the system says this of it.
        if error.errno != errno.ENAMETOOLONG:
            raise
        shown = display_path(str(error.filename)[:80])
        sys.stderr.write(f"asterism: {shown}… is too long for a path; check it.\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    finally:
        for sentence in taken():
            sys.stderr.write(f"asterism: {sentence}\n")
