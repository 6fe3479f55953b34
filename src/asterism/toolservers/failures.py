"""What a failure of a tool server means to the user."""

from asterism.toolservers.options import Prepared
from asterism.types.errors import (
    ToolServerDied,
    ToolServerError,
    ToolServerMissing,
    ToolServerRefused,
    ToolServerSlow,
)

_MOST_CHARS = 500
"""Of a server's own words about an error."""


def foreign_errors() -> tuple[type[Exception], ...]:
    """What the SDK and the libraries below it raise where a server does not do what it should."""
    import anyio
    import httpx2
    from mcp.client.streamable_http import StreamableHTTPError
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        StreamableHTTPError,
        httpx2.HTTPError,
        httpx2.StreamError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
        OSError,
        # Answers that are not what the protocol says, and output that breaks a tool's own schema.
        ValueError,
        RuntimeError,
        ExceptionGroup,
    )


def failure(name: str, error: BaseException, server: Prepared) -> ToolServerError:
    """The error that a user can act on, without any secret and without its cause."""
    import httpx2
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    match _innermost(error):
        case ToolServerError() as ours:
            return ours
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return too_slow(name)
        case TimeoutError() | httpx2.TimeoutException():
            return too_slow(name)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return ToolServerDied(f"The server {name} closed the connection; try again.")
        case MCPError(message=message):
            said = server.redacted(" ".join(message.split()))[:_MOST_CHARS]
            return ToolServerRefused(f"The server {name} refused: {said}")
        case httpx2.ConnectError():
            return ToolServerMissing(
                f"Nothing answers at the address of the server {name}; start it, or mend `url` in "
                "the agent's file."
            )
        case ValueError() | RuntimeError():
            return ToolServerRefused(
                f"The server {name} gave an answer that is not in its protocol; update or disable "
                "it."
            )
    return ToolServerDied(f"The connection to the server {name} broke; try again.")


def too_slow(name: str) -> ToolServerError:
    """A server that did not answer in time."""
    return ToolServerSlow(
        f"The server {name} did not answer in time; see whether it runs, or disable it in the "
        "agent's file."
    )


def _innermost(error: BaseException) -> BaseException:
    """Tasks report what happened in groups; ours, or the first, says most."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_innermost(each) for each in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, ToolServerError)), leaves[0])
