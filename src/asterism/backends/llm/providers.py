"""Which class stands behind each provider of language models."""

from typing import NamedTuple

from asterism.backends.llm.masking import MaskedModel
from asterism.backends.llm.options import LlmOptions
from asterism.backends.llm.protocol import LanguageModel
from asterism.backends.llm.sampling import Sample, SamplingModel
from asterism.domain.errors import ProviderMissing


class Lent(NamedTuple):
    """The model that a client lends."""

    sample: Sample
    calls_tools: bool = False


def make_model(options: LlmOptions, lent: Lent | None = None) -> LanguageModel | None:
    """The model that the options name; None for `extractive`, which is no model.

    Whichever it is, it reads texts without the tokens in them.
    """
    model = _model(options, lent)
    return None if model is None else MaskedModel(model)


def _model(options: LlmOptions, lent: Lent | None) -> LanguageModel | None:
    match options.provider:
        case "openai":
            from asterism.backends.llm.openai_compatible import OpenAiModel

            return OpenAiModel(options)
        case "anthropic":
            from asterism.backends.llm.anthropic_messages import AnthropicModel

            return AnthropicModel(options)
        case "sampling":
            if lent is None:
                raise ProviderMissing(
                    "This client does not lend its model; set model.provider to extractive, "
                    "openai or anthropic."
                )
            return SamplingModel(options, lent.sample, calls_tools=lent.calls_tools)
        case _:
            return None
