"""Where the HTTP server listens, and whom it answers."""

from dataclasses import dataclass

from asterism.config.setting import Kind, Voice, described, whole


@dataclass(frozen=True, slots=True)
class RecordsSettings:
    """Where conversations and sessions are kept."""

    url: str = described(
        Kind.text,
        "",
        "The database of conversations, as SQLAlchemy writes it: `postgresql://user@host/name` (it "
        "needs the extra `postgres`), or `sqlite:////absolute/path`; nothing means a file in the "
        "data directory. A password stands in `ASTERISM_RECORDS_PASSWORD`.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `asterism serve` does unless an option says otherwise."""

    host: str = described(
        Kind.text,
        "127.0.0.1",
        "The address that the server listens on; any but this machine's own needs a token.",
        voice=Voice.user,
    )
    port: int = whole(
        8420,
        "The port that the server listens on; 0 takes any that is free.",
        minimum=0,
        maximum=65_535,
        voice=Voice.user,
    )
    access: str = described(
        Kind.text,
        "user",
        "Whom the server answers on this machine: `user` takes the token that it makes by itself, "
        "and where the system tells who asks, programs of the same user need none; `token` asks "
        "every client for it; `open` answers every user of this machine.",
        choices=("user", "token", "open"),
        voice=Voice.user,
    )
    token_file: str = described(
        Kind.text,
        "",
        "A file with a token of your own that every request has to bring, an absolute path, `~/` "
        "allowed; the variable `ASTERISM_SERVER_TOKEN` comes before it.",
        voice=Voice.user,
    )
    allowed_hosts: str = described(
        Kind.text,
        "",
        "Names beside its own address by which the server may be called, separated by commas.",
        voice=Voice.user,
    )
    allowed_origins: str = described(
        Kind.text,
        "",
        "Pages of other servers that may ask this one, as `https://example.org`, separated by "
        "commas.",
        voice=Voice.user,
    )
    max_body_bytes: int = whole(
        4_194_304,
        "How large a request may be.",
        minimum=1_024,
        maximum=104_857_600,
        voice=Voice.user,
    )
    query_seconds: int = whole(
        30,
        "How long a query may take before it is ended, on the command line and in programs too.",
        minimum=1,
        maximum=3_600,
        voice=Voice.user,
    )
    cpu_seconds: int = whole(
        5,
        "How many seconds of one core a client of `asterism serve` may use in each "
        "`server.cpu_window` seconds; beyond that its requests are answered 429. 0 sets no limit.",
        minimum=0,
        maximum=3_600,
        voice=Voice.user,
    )
    cpu_window: int = whole(
        10,
        "The seconds over which the use of the processor is counted.",
        minimum=1,
        maximum=3_600,
        voice=Voice.user,
    )
    read_only: bool = described(
        Kind.boolean,
        False,
        "Whether repositories cannot be added, removed or indexed over HTTP.",
        voice=Voice.user,
    )
    roots: tuple[str, ...] = described(
        Kind.paths,
        (),
        "Directories below which repositories may be added over HTTP. Without any it is your home "
        "where the server is for this machine alone, and no directory elsewhere.",
        voice=Voice.user,
    )
