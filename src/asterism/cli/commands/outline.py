"""`asterism outline`: a file as a tree of symbols."""

import argparse

from asterism.analysis.contents import read_outline
from asterism.cli.json import outline_json, write_json
from asterism.cli.setup import place_of


def run(options: argparse.Namespace) -> int:
    """Print the outline of one file."""
    place = place_of(options.file)
    outline = read_outline(place.path, place.relative_path)
    if options.json:
        write_json(outline_json(outline))
    else:
        # Here, not above: JSON needs no terminal library.
        from asterism.cli.render.trees import print_outline

        print_outline(outline)
    return 0
