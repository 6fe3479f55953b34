"""The model that an MCP client lends: our requests as its protocol has them, and its answers."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.provider import Lent
from asterism.types.chat import Ending, Message, ModelReply, Role
from asterism.types.errors import BadReply, ProviderMissing, ProviderRefused

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.types import SamplingMessage

REQUEST_ID = "asterism/requestId"
_ENDINGS = {"maxTokens": Ending.length}


def lent_by(context: ServerRequestContext[Any, Any]) -> Lent | None:
    """The client's model, if it offers one; it is called in the event loop of the session."""
    from mcp.types import ClientCapabilities, SamplingCapability

    wanted = ClientCapabilities(sampling=SamplingCapability())
    if not context.session.check_client_capability(wanted):
        return None
    loop = asyncio.get_running_loop()

    async def sample(request: ModelRequest) -> ModelReply:
        """Called in another event loop: the session is asked in its own."""
        asked = asyncio.run_coroutine_threadsafe(_sampled(context, request), loop)
        return await asyncio.wrap_future(asked)

    return Lent(sample)


def request_name(context: ServerRequestContext[Any, Any]) -> str:
    """What the client named the request in its `_meta`: repeated, it is not answered twice."""
    named = (context.meta or {}).get(REQUEST_ID)
    return named if isinstance(named, str) else ""


async def _sampled(context: ServerRequestContext[Any, Any], request: ModelRequest) -> ModelReply:
    from mcp.shared.exceptions import MCPDeprecationWarning, MCPError, NoBackChannelError
    from mcp.types import TextContent

    system = "\n\n".join(one.text for one in request.messages if one.role is Role.system)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sending = context.session.create_message(
                _messages(request.messages),
                max_tokens=request.max_output_tokens,
                system_prompt=system or None,
                temperature=request.temperature,
                related_request_id=context.request_id,
            )
        answer = await sending
    except NoBackChannelError as error:
        raise ProviderMissing(
            "This connection cannot lend the client's model; set another model.provider."
        ) from error
    except MCPError as error:
        raise ProviderRefused(
            f"The client did not lend its model ({error}); ask again, or set another "
            "model.provider."
        ) from error
    if not isinstance(answer.content, TextContent):
        raise BadReply("The client's model answered with something else than text; ask again.")
    ending = _ENDINGS.get(answer.stop_reason or "", Ending.answer)
    return ModelReply(answer.content.text, model_id=answer.model, ending=ending)


def _messages(messages: tuple[Message, ...]) -> list[SamplingMessage]:
    """The conversation; results of tools are something that the user's side says."""
    from mcp.types import SamplingMessage, TextContent

    made: list[SamplingMessage] = []
    for one in messages:
        if one.role is Role.system or not one.text:
            continue
        content = TextContent(type="text", text=one.text)
        is_model = one.role is Role.assistant
        made.append(SamplingMessage(role="assistant" if is_model else "user", content=content))
    return made
