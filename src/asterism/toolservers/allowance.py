"""How much a server may say between two requests of ours."""

from asterism.types.errors import ToolServerFlooding


class Allowance:
    """Counts what a server says; each request of ours begins a new count."""

    def __init__(self, server: str, most: int) -> None:
        self._server = server
        self._most = most
        self._said = 0
        self.strange_lines = 0
        """Lines that are no messages of the protocol, such as a greeting."""

    def renew(self) -> None:
        """We asked something."""
        self._said = 0

    def take(self, count: int) -> None:
        """It said so many bytes; too many are an error."""
        self._said += count
        if self._said > self._most:
            raise ToolServerFlooding(
                f"The server {self._server} said more than {self._most:,} bytes to one request and "
                "was ended; mend or disable it in the agent's file."
            )
