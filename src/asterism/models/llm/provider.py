"""Which class stands behind each provider of language models."""

from typing import NamedTuple

from asterism.models.llm.masking import MaskedModel
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import LanguageModel
from asterism.models.llm.sampling import Sample, SamplingModel
from asterism.types.errors import ProviderMissing


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
            from asterism.models.llm.openai import OpenAiModel

            return OpenAiModel(options)
        case "anthropic":
            from asterism.models.llm.anthropic import AnthropicModel

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
