"""Which names hold keys or passwords: such files are recognised by name alone and never opened."""

import re


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


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
_IN_FOLDER = {
    "config.json": (".docker",),
    "config": (".kube", ".aws"),
    "hosts.yml": ("gh",),
}
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
