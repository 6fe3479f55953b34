"""Every setting there is, in its sections."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from asterism.config.model_sections import (
    ChatSettings,
    ContextModelSettings,
    EmbeddingSettings,
    ModelSettings,
    RerankSettings,
)
from asterism.config.sections import (
    CacheSettings,
    ChunkSettings,
    DiscoverySettings,
    IndexSettings,
    LogSettings,
    MaskingSettings,
    RecordsSettings,
    ServerSettings,
    StructureSettings,
    TrustSettings,
    WatchSettings,
    WorkSettings,
)
from asterism.config.setting import Setting


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved."""

    discovery: DiscoverySettings = DiscoverySettings()
    chunks: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    cache: CacheSettings = CacheSettings()
    index: IndexSettings = IndexSettings()
    watch: WatchSettings = WatchSettings()
    structure: StructureSettings = StructureSettings()
    model: ModelSettings = ModelSettings()
    chat: ChatSettings = ChatSettings()
    context: ContextModelSettings = ContextModelSettings()
    records: RecordsSettings = RecordsSettings()
    server: ServerSettings = ServerSettings()
    work: WorkSettings = WorkSettings()
    log: LogSettings = LogSettings()
    masking: MaskingSettings = MaskingSettings()
    trust: TrustSettings = TrustSettings()


def all_settings() -> Iterator[Setting]:
    """Every setting in the order of its section."""
    defaults = Settings()
    for section in fields(Settings):
        part = getattr(defaults, section.name)
        for entry in fields(part):
            default = getattr(part, entry.name)
            yield Setting(section.name, entry.name, default=default, **entry.metadata)
