"""Which names hold keys or passwords: such files are recognised by name alone and never opened."""

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CODE = frozenset(
    _words(
        "py pyi pyx pxd ipynb js mjs cjs jsx ts mts cts tsx vue svelte astro java kt kts groovy"
        " gradle scala sc clj cljs cljc go rs c h cc cpp cxx hh hpp hxx m mm cs fs fsx vb swift rb"
        " rake erb php phtml pl pm lua ex exs eex heex erl hrl hs lhs ml mli zig nim d dart r jl"
        " sh bash zsh fish ps1 psm1 bat cmd sql graphql gql proto thrift css scss sass less f90 f95"
        " f pas pp asm s v sv vhd vhdl sol move el lisp scm rkt tcl awk sed cmake mk bzl bazel star"
        " nix cr coffee feature robot http rest hurl tf hcl j2 jinja jinja2 tpl tmpl hbs ejs"
        " mustache liquid"
    )
)
_PROSE = frozenset(
    _words(
        "md mdx markdown rst txt text adoc asciidoc org tex html htm xhtml svg po pot log diff"
        " patch snap"
    )
)

_KEY = re.compile(
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n)"
    rb"(?:[^\n-]|\n|-(?!----)){0,600}?[A-Za-z0-9+/]{40}"
)
_AT_START = re.compile(rb"\A[\s\xef\xbb\xbf]{0,200}-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_VALUE = rb"[\"']?[A-Za-z0-9+/_.~=-]{16,}"


class SecretShape(NamedTuple):
    """One form of a file of credentials."""

    detail: str
    """What it is, as the list of skipped files says it."""
    mark: bytes
    """A file without it, in small letters, is not looked at further."""
    parts: tuple[re.Pattern[bytes], ...]
    """All of them have to be found."""


def _shape(detail: str, mark: bytes, *parts: bytes) -> SecretShape:
    return SecretShape(
        detail, mark, tuple(re.compile(part, re.MULTILINE | re.IGNORECASE) for part in parts)
    )


_SHAPES = (
    _shape(
        "a kubeconfig with credentials",
        b"users",
        rb"^[ \t{]{0,99}[\"']?kind[\"']?:[ \t]{0,9}[\"']?Config\b",
        rb"[\"']?(?:client-key-data|token|password)[\"']?:[ \t]*" + _VALUE,
    ),
    _shape(
        "the key of a Google service account",
        b"service_account",
        rb'"type"\s{0,9}:\s{0,9}"service_account"',
        rb'"private_key"\s{0,9}:\s{0,9}"-----BEGIN',
    ),
    _shape(
        "credentials of Google Cloud",
        b"refresh_token",
        rb'"type"\s{0,9}:\s{0,9}"authorized_user"',
        rb'"refresh_token"\s{0,9}:\s{0,9}' + _VALUE,
    ),
    _shape(
        "the secret of an OAuth client",
        b"client_secret",
        rb'\A\s{0,99}\{\s{0,99}"(?:installed|web)"\s{0,9}:\s{0,9}\{',
        rb'"client_secret"\s{0,9}:\s{0,9}' + _VALUE,
    ),
    _shape(
        "logins in the form of .netrc",
        b"machine",
        rb"^[ \t]{0,40}machine[ \t]{1,9}[\w.-]{1,200}\s{1,99}login[ \t]{1,9}\S{1,200}"
        rb"\s{1,99}password[ \t]{1,9}[^\s<$]{4,200}\s{0,9}$",
    ),
    _shape(
        "passwords in the form of .pgpass",
        b"hostname:port:database",
        rb"^[^#\s:]{1,200}:(?:\*|[0-9]{1,5}):[^:\n]{1,200}:[^:\n]{1,200}:[^\s<$][^\n]{2,200}$",
    ),
    _shape(
        "a token of a package registry",
        b"_authtoken",
        rb"^//[^\s]{1,300}:_authToken[ \t]{0,4}=[ \t]{0,4}" + _VALUE,
    ),
    _shape(
        "a password of a package index",
        b"[pypi]",
        rb"^\[pypi\]",
        rb"^[ \t]{0,9}password[ \t]{0,4}[:=][ \t]{0,4}[^\s<$]{8,}",
    ),
    _shape(
        "logins of a container registry",
        b'"auths"',
        rb'"auths"\s{0,9}:\s{0,9}\{',
        rb'"(?:auth|identitytoken|registrytoken)"\s{0,9}:\s{0,9}"[A-Za-z0-9+/_.=-]{8,}"',
    ),
    _shape(
        "credentials of AWS",
        b"aws_secret_access_key",
        rb"^[ \t]{0,9}(?:export[ \t]{1,9})?aws_secret_access_key[ \t]{0,9}=[ \t]{0,9}"
        rb"[\"']?[A-Za-z0-9/+]{40}[\"']?[ \t\r]{0,9}$",
    ),
    _shape(
        "the state of Terraform",
        b'"terraform_version"',
        rb'"lineage"\s{0,9}:\s{0,9}"',
        rb'"resources"\s{0,9}:\s{0,9}\[',
        rb'"instances"\s{0,9}:\s{0,9}\[',
    ),
    _shape("a key of PuTTY", b"putty-user-key-file-", rb"\APuTTY-User-Key-File-[0-9]"),
    _shape(
        "a key of age",
        b"age-secret-key-1",
        rb"\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    ),
    _shape(
        "a key of WireGuard",
        b"privatekey",
        rb"^\[Interface\]",
        rb"^[ \t]{0,9}PrivateKey[ \t]{0,9}=[ \t]{0,9}[A-Za-z0-9+/]{43}=",
    ),
    _shape(
        "settings of Azure Functions with credentials",
        b'"azurewebjobsstorage"',
        rb'"Values"\s{0,9}:\s{0,9}\{',
        rb"AccountKey=[A-Za-z0-9+/]{40}",
    ),
    _shape(
        "cached logins of Azure",
        b'"refreshtoken"',
        rb'"AccessToken"\s{0,9}:',
        rb'"(?:secret|refreshToken)"\s{0,9}:\s{0,9}"[A-Za-z0-9+/_.=-]{100}',
    ),
)

_BY_LINE: Mapping[str, re.Pattern[bytes]] = {
    "hashed passwords": re.compile(
        rb"[^\s:#]{1,100}:(?:\$(?:apr1|1|2[abxy]?|5|6|y|argon2id?)\$[^\s:]{10,300}|\{SHA\}[A-Za-z0-9+/]{27}=)"
        rb"(?::[^\n]{0,200})?"
    ),
    "logins in addresses": re.compile(
        rb"https?://[^\s:/@]{1,200}:[^\s/@<${]{4,300}@[^\s/]{3,200}/?"
    ),
}
"""Files in which every line that is no comment has one form."""

_MAGIC = (
    (b"\xfe\xed\xfe\xed", "a Java key store"),
    (b"\xce\xce\xce\xce", "a Java key store"),
    (b"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5", "a KeePass database"),
    (b"\x03\xd9\xa2\x9a\x65\xfb\x4b\xb5", "a KeePass database"),
)
_PKCS12 = re.compile(
    rb"\A0(?:[\x00-\x7f]|\x81.|\x82..|\x83...|\x84....|\x80)\x02\x01\x03", re.DOTALL
)


def may_be_secret(name: str) -> bool:
    """Whether a file of this name is looked at to its end."""
    return _kind(name) not in (_CODE, _PROSE)


def secret_content(name: str, data: bytes) -> str | None:
    """The kind of secret that a file of this name and content is, or None, which is quick."""
    kind = _kind(name)
    if kind is _CODE:
        return None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # As some editors and PowerShell write text.
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    if kind is _PROSE:
        return "a private key" if _AT_START.match(data) else _by_line(data)
    return _magic(data) or _shaped(data) or _private_key(data) or _by_line(data)


def _kind(name: str) -> frozenset[str] | None:
    ending = name.lower().rpartition(".")[2]
    if "." not in name.lstrip("."):
        # Makefile and Dockerfile, README and LICENSE.
        return _CODE if name.endswith("file") else _PROSE if name.isupper() else None
    return _CODE if ending in _CODE else _PROSE if ending in _PROSE else None


def _magic(data: bytes) -> str | None:
    for magic, detail in _MAGIC:
        if data.startswith(magic):
            return detail
    return "a store of keys (PKCS #12)" if _PKCS12.match(data) else None


def _private_key(data: bytes) -> str | None:
    return "a private key" if b"PRIVATE KEY" in data and _KEY.search(data) else None


def _shaped(data: bytes) -> str | None:
    lowered = data.lower()
    for shape in _SHAPES:
        if shape.mark in lowered and all(part.search(data) for part in shape.parts):
            return shape.detail
    return None


def _by_line(data: bytes) -> str | None:
    if b"$" not in data and b"{SHA}" not in data and b"://" not in data:
        return None
    first = next((line for line in data[:4096].splitlines() if _is_said(line)), b"").strip()
    for detail, form in _BY_LINE.items():
        # The first line settles nearly every file.
        if form.fullmatch(first) and all(
            form.fullmatch(line.strip()) for line in data.splitlines() if _is_said(line)
        ):
            return detail
    return None


def _is_said(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith(b"#")


_NAMES = frozenset(
    _words(
        ".netrc _netrc .pgpass .npmrc .pypirc .git-credentials .htpasswd .dockercfg"
        " .dockerconfigjson .my.cnf .mylogin.cnf .s3cfg .boto .vault-token .terraformrc"
        " local.settings.json rclone.conf accesstokens.json msal_token_cache.json"
        " terraform.rc .databrickscfg .passwd-s3fs kubeconfig credentials"
    )
)
_SUFFIXES = _words(
    ".pem .key .p12 .pfx .pkcs12 .p8 .ppk .jks .bks .keystore .keytab .kdb .kdbx .agekey .ovpn"
    " .secret .secrets .env .tfstate .tfstate.backup .tfvars .tfvars.json"
)
_NAME_FORMS = re.compile(
    r"""
    \.env.*                                                       # the contract says .env*
    | id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\.(old|bak|backup|orig|txt))?  # not the .pub half
    | (credentials|secrets?)\.(json|ya?ml|toml|ini|properties)
    | (service[-_]?account|client[-_]secret)[^/]*\.json
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_FOLDER = {"config.json": (".docker",), "config": (".kube", ".aws"), "hosts.yml": ("gh",)}
_FOLDERS = frozenset({".ssh", ".gnupg", ".env", ".password-store", ".aws", ".azure", ".gcloud"})


def is_secret_file(folder: str, name: str) -> bool:
    """Tell whether a file must never be opened; `folder` is the name of the directory it is in."""
    lowered = name.lower()
    return (
        lowered in _NAMES
        or lowered.endswith(_SUFFIXES)
        or folder.lower() in _IN_FOLDER.get(lowered, ())
        or _NAME_FORMS.fullmatch(lowered) is not None
    )


def is_secret_folder(name: str) -> bool:
    """Tell whether a directory as a whole holds keys or passwords."""
    return name.lower() in _FOLDERS


def is_secret_path(path: str) -> bool:
    """Tell whether a file must never be opened, or any directory on the way to it."""
    *folders, name = path.split("/")
    return is_secret_file(folders[-1] if folders else "", name) or any(
        map(is_secret_folder, folders)
    )
