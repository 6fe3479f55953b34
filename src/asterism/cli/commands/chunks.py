"""`asterism chunks`: a file as the pieces it is searched by."""

import argparse

from asterism.analysis.contents import read_chunks
from asterism.cli.json import chunk_json, write_json
from asterism.cli.setup import place_of, settings_for
from asterism.config.load import chunk_options


def run(options: argparse.Namespace) -> int:
    """Print the chunks of one file."""
    place = place_of(options.file)
    limits = chunk_options(settings_for(place.root))
    chunks = read_chunks(place.path, place.relative_path, place.repo, limits).chunks
    if options.json:
        write_json([chunk_json(chunk) for chunk in chunks])
        return 0
    # Here, not above: JSON needs no terminal library.
    from asterism.cli.render.trees import print_chunk_texts, print_chunks

    if options.show:
        print_chunk_texts(chunks, options.show)
    else:
        print_chunks(place.relative_path, chunks)
    return 0
