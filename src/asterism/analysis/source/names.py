"""What a name alone says about a file or directory, so that few skipped files are ever opened."""

from asterism.types.files import SkipReason


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_LOCK_FILES = frozenset(
    _words(
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb"
        " deno.lock poetry.lock uv.lock pdm.lock pipfile.lock pylock.toml pixi.lock cargo.lock"
        " conda-lock.yml gemfile.lock composer.lock go.sum go.work.sum flake.lock mix.lock"
        " pubspec.lock rebar.lock podfile.lock cartfile.resolved package.resolved"
        " packages.lock.json project.assets.json paket.lock gradle.lockfile"
        " buildscript-gradle.lockfile stack.yaml.lock cabal.project.freeze .terraform.lock.hcl"
        " chart.lock module.bazel.lock"
    )
)
_MINIFIED = _words(
    ".min.js .min.mjs .min.cjs .min.css .min.html .js.map .mjs.map .cjs.map .css.map .ts.map"
    " .mts.map .cts.map .jsx.map .tsx.map -min.js -min.css"
)
_GENERATED = _words(
    ".bundle.js .bundle.mjs .bundle.css .chunk.js .chunk.css"
    " _pb2.py _pb2.pyi _pb2_grpc.py .pb.go .pb.gw.go .pb.cc .pb.h .pb.c .pb.swift _pb.js _pb.d.ts"
    " _pb.ts _grpc_pb.js _grpc_pb.d.ts _pb.rb .g.dart .freezed.dart .gr.dart .pb.dart .pbenum.dart"
    " .pbjson.dart .pbserver.dart .g.cs .g.i.cs .designer.cs .designer.vb"
)
_BINARY = _words(
    # Pictures, sound, film, fonts
    ".png .jpg .jpeg .gif .bmp .ico .icns .webp .avif .heic .tif .tiff .psd .xcf .mp3 .mp4 .m4a"
    " .m4v .wav .ogg .oga .ogv .flac .aac .avi .mov .mkv .webm .ttf .otf .woff .woff2 .eot"
    # Archives, packages, disk images
    " .zip .gz .tgz .bz2 .xz .zst .lz4 .7z .rar .tar .jar .war .ear .aar .whl .egg .gem .nupkg .deb"
    " .rpm .apk .ipa .dmg .iso .crx .vsix"
    # Programs and object code
    " .exe .dll .so .dylib .a .o .obj .lib .class .pyc .pyo .pyd .wasm .beam .pdb .node"
    # Documents, databases, arrays and models
    " .pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .sqlite .sqlite3 .db .mdb .parquet .arrow"
    " .feather .avro .orc .npy .npz .pkl .pickle .h5 .hdf5 .onnx .safetensors .gguf .pt .pth"
    " .tflite .mo .mmdb .shp .dbf"
)
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "_darcs", ".fossil"})
_DEPENDENCIES = frozenset(
    _words(
        "node_modules bower_components jspm_packages .pnpm-store .yarn .npm"
        " __pycache__ .venv .tox .nox .eggs site-packages .mypy_cache .pytest_cache .ruff_cache"
        " .hypothesis .pytype .ipynb_checkpoints __pypackages__"
        " .gradle .bundle .dart_tool .terraform .serverless .next .nuxt .svelte-kit .angular .turbo"
        " .parcel-cache .nyc_output Pods DerivedData elm-stuff .stack-work dist-newstyle .zig-cache"
        " zig-cache zig-out .elixir_ls .metals .bloop .ccls-cache"
    )
)
_DEPENDENCY_MARKS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


def judge_file_name(name: str) -> SkipReason | None:
    """Return why a file of this name is skipped unseen, if it is."""
    if name == ".git":
        # In a submodule or a linked worktree it is a file.
        return SkipReason.vcs
    lowered = name.lower()
    if lowered in _LOCK_FILES:
        return SkipReason.lock_file
    if lowered.endswith(_BINARY):
        return SkipReason.binary
    if lowered.endswith(_MINIFIED):
        return SkipReason.minified
    if lowered.endswith(_GENERATED):
        return SkipReason.generated
    return None


def judge_folder_name(name: str) -> SkipReason | None:
    """Return why a directory of this name is not entered, if it is not."""
    if name in _VERSION_CONTROL:
        return SkipReason.vcs
    if name in _DEPENDENCIES or name.endswith(".egg-info"):
        return SkipReason.dependencies
    return None


def dependency_mark(names: frozenset[str]) -> str | None:
    """Return the file that marks a directory as a virtual environment or a cache, if it is one."""
    return min(names & _DEPENDENCY_MARKS, default=None)
