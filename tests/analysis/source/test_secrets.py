"""Which files are secrets by what they hold, and which only look so."""

import subprocess
import sys
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import discover
from asterism.analysis.source.secrets import secret_content
from asterism.analysis.source.text import read
from asterism.types.errors import SecretFile
from asterism.types.files import SkipReason
from tests.analysis.source.conftest import CODE, Tree
from tests.disclosure.examples import BASE64, GITHUB, HEX, JWT, WORD, made, private_key

KEY = private_key()
ESCAPED_KEY = private_key("PRIVATE KEY", "\\n")
CERTIFICATE = KEY.replace("RSA PRIVATE KEY", "CERTIFICATE")

KUBECONFIG = f"""\
apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster:
    server: https://k8s.example
users:
- name: admin
  user:
    token: {made(WORD, 40)}
"""
SERVICE_ACCOUNT = (
    f'{{"type": "service_account", "project_id": "x", "private_key": "{ESCAPED_KEY}\\n"}}'
)
DOCKER = f'{{"auths": {{"registry.example": {{"auth": "{made(BASE64, 24)}"}}}}}}'
STATE = '{"version": 4, "terraform_version": "1.9.0", "lineage": "a-b", "resources": [{"instances": []}]}'
HASH = "$2y$10$" + made(WORD, 53)

SECRETS: list[tuple[str, str | bytes, str]] = [
    ("id_work", KEY, "a private key"),
    ("key.txt", KEY, "a private key"),
    ("key.txt", f"\n\n  {KEY}\n", "a private key"),
    ("backup.conf", f"[vpn]\nhost = x\n<key>\n{KEY}\n</key>\n", "a private key"),
    (
        "values.yaml",
        f"tls:\n  key: |\n    {KEY.replace(chr(10), chr(10) + '    ')}\n",
        "a private key",
    ),
    ("fixture.json", f'{{"key": "{ESCAPED_KEY}"}}', "a private key"),
    ("pgp.asc", private_key("PGP PRIVATE KEY BLOCK"), "a private key"),
    ("utf16", KEY.encode("utf-16"), "a private key"),
    ("late.yaml", "# x\n" * 5_000 + KEY, "a private key"),
    ("admin.yaml", KUBECONFIG, "a kubeconfig with credentials"),
    ("admin.conf", f"# mine\n{KUBECONFIG}", "a kubeconfig with credentials"),
    ("firebase.json", SERVICE_ACCOUNT, "the key of a Google service account"),
    (
        "adc.json",
        f'{{"type": "authorized_user", "refresh_token": "1//{made(WORD, 60)}"}}',
        "credentials of Google Cloud",
    ),
    (
        "oauth.json",
        f'{{"installed":{{"client_id":"x","client_secret":"GOCSPX-{made(WORD, 28)}"}}}}',
        "the secret of an OAuth client",
    ),
    (
        "logins",
        "machine api.example login ada password 8urroughs\n",
        "logins in the form of .netrc",
    ),
    (
        "netrc.bak",
        "# a\nmachine a.example\n  login ada\n  password 8urroughs\n",
        "logins in the form of .netrc",
    ),
    (
        "pgpass.conf",
        "# hostname:port:database:username:password\ndb:5432:app:ada:8urroughs\n",
        "passwords in the form of .pgpass",
    ),
    ("npmrc", f"//registry.example/:_authToken={made(HEX, 36)}\n", "a token of a package registry"),
    (
        "pypirc.bak",
        "[pypi]\nusername = ada\npassword = 8urroughs1\n",
        "a password of a package index",
    ),
    ("config.json", DOCKER, "logins of a container registry"),
    (
        "aws.ini",
        f"[default]\naws_access_key_id = x\naws_secret_access_key = {made(BASE64, 40)}\n",
        "credentials of AWS",
    ),
    ("state.json", STATE, "the state of Terraform"),
    ("putty", "PuTTY-User-Key-File-3: ssh-ed25519\n", "a key of PuTTY"),
    (
        "identity",
        f"# created\nAGE-SECRET-KEY-1{made('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}\n",
        "a key of age",
    ),
    ("wg0.conf", f"[Interface]\nPrivateKey = {made(BASE64, 43)}=\n", "a key of WireGuard"),
    (
        "functions.json",
        f'{{"Values": {{"AzureWebJobsStorage": "AccountKey={made(BASE64, 86)}=="}}}}',
        "settings of Azure Functions with credentials",
    ),
    (
        "cache.json",
        f'{{"AccessToken": {{"x": {{"secret": "{made(WORD, 400)}"}}}}, "RefreshToken": {{}}}}',
        "cached logins of Azure",
    ),
    ("users", f"# people\nada:{HASH}\ngrace:{HASH}\n", "hashed passwords"),
    ("shadow.txt", f"root:$6$abc${made(WORD, 86)}:18000:0:99999:7:::\n", "hashed passwords"),
    ("stored", "https://ada:8urroughs@git.example\n", "logins in addresses"),
    ("keystore", b"\xfe\xed\xfe\xed\0\0\0\2" + bytes(99), "a Java key store"),
    ("store.bin", b"0\x82\x09\x11\x02\x01\x030\x82" + bytes(99), "a store of keys (PKCS #12)"),
    ("passwords", b"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5" + bytes(99), "a KeePass database"),
]

NO_SECRETS: list[tuple[str, str | bytes]] = [
    # Code may hold keys for tests; they are masked where the text is sent somewhere.
    ("test_keys.py", f"KEY = '''{KEY}'''\n"),
    ("fixtures.go", f"const key = `{KEY}`\n"),
    ("Keys.java", f'String KEY = "{ESCAPED_KEY}";\n'),
    ("main.tf", f'resource "x" {{ key = <<EOF\n{KEY}\nEOF\n}}\n'),
    ("setup.sh", f"cat > key <<EOF\n{KEY}\nEOF\n"),
    ("Dockerfile", "ENV AWS_SECRET_ACCESS_KEY=x\n"),
    # Prose tells how such files look.
    ("README.md", f"Make a key:\n\n```\n{KEY}\n```\n"),
    ("guide.rst", f"::\n\n    {KUBECONFIG}"),
    ("README", "machine example login me password secret1\n"),
    ("notes.txt", f"see below\n{KEY}\n"),
    ("netrc.html", "machine example login me password secret1\n"),
    # Half of it, or a place for it.
    ("config.yaml", "-----BEGIN PRIVATE KEY-----\n"),
    (
        "key.yaml",
        "key: |\n  -----BEGIN PRIVATE KEY-----\n  <your key>\n  -----END PRIVATE KEY-----\n",
    ),
    ("tls.crt", CERTIFICATE),
    ("public.asc", KEY.replace("PRIVATE", "PUBLIC")),
    ("kube.yaml", KUBECONFIG.replace("token: ", "token: $TOKEN # ")),
    ("crd.yaml", "kind: ConfigMap\nusers:\n- token: abcdefghijklmnopqrstuvwx\n"),
    ("account.json", '{"type": "service_account", "private_key": "<key>"}'),
    ("auths.json", '{"auths": {"registry.example": {}}}'),
    ("aws.ini", "aws_secret_access_key = YOUR_SECRET_KEY\n"),
    ("aws.yaml", "aws_secret_access_key: ${SECRET}\n"),
    ("npmrc", "//registry.example/:_authToken=${NPM_TOKEN}\n"),
    ("pypirc", "[pypi]\npassword = <token>\n"),
    ("machines.json", '{"machine": "a", "login": "b", "password": "c"}'),
    ("errors.log", "src/a.py:12:5:error: expected x\n"),
    ("passwd", "root:x:0:0:root:/root:/bin/bash\n"),
    ("urls", "https://example.org\nhttps://ada@example.org\n"),
    ("mixed", f"ada:{HASH}\nand some words\n"),
    ("wg.conf", "[Interface]\nPrivateKey = <key>\n"),
    # Tokens in settings are masked; the settings are worth to be found.
    ("app.yaml", f"github:\n  token: {GITHUB}\n"),
    ("jwt", JWT),
    ("plan.json", '{"terraform_version": "1.9.0", "resource_changes": []}'),
    ("empty.conf", ""),
    ("data.der", b"0\x82\x03\x00\x02\x01\x00" + bytes(99)),
]


@pytest.mark.parametrize(("name", "content", "detail"), SECRETS)
def test_a_secret(name: str, content: str | bytes, detail: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    assert secret_content(name, data) == detail


@pytest.mark.parametrize(("name", "content"), NO_SECRETS)
def test_no_secret(name: str, content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    assert secret_content(name, data) is None


@pytest.mark.parametrize(
    "name",
    [
        "prod.secrets",
        "app.secret",
        "local.settings.json",
        "id_rsa.txt",
        "id_ed25519.txt",
        "rclone.conf",
    ],
)
def test_a_secret_by_its_name(tree: Tree, tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: "x"})
    (entry,) = discover(str(tmp_path)).skipped
    assert (entry.path, entry.reason, entry.detail) == (name, SkipReason.secret, None)


def test_discovery_says_what_each_is(tree: Tree, tmp_path: Path) -> None:
    """Also if the credentials follow the first block, and whatever the ignore file says."""
    files = {f"{number}/{name}": content for number, (name, content, _) in enumerate(SECRETS)}
    tree(tmp_path, {**files, "a.py": CODE, ".asterismignore": "!**\n"})
    found = discover(str(tmp_path))
    assert [file.path for file in found.files] == [".asterismignore", "a.py"]
    said = {entry.path: (entry.reason, entry.detail) for entry in found.skipped}
    assert said == {
        f"{number}/{name}": (SkipReason.secret, detail)
        for number, (name, _, detail) in enumerate(SECRETS)
    }


def test_what_is_no_secret_is_found(tree: Tree, tmp_path: Path) -> None:
    files = {f"{number}/{name}": content for number, (name, content) in enumerate(NO_SECRETS)}
    tree(tmp_path, files)
    found = discover(str(tmp_path))
    assert {file.path for file in found.files} >= {
        path for path, content in files.items() if isinstance(content, str)
    }
    assert not any(entry.reason is SkipReason.secret for entry in found.skipped)


@pytest.mark.parametrize(("name", "content", "detail"), SECRETS[:12])
def test_no_way_of_reading_shows_it(
    tmp_path: Path, name: str, content: str | bytes, detail: str
) -> None:
    """The one function that reads files for outlines, replies and tools refuses."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SecretFile, match=f"holds {detail}; such files are never shown or kept"):
        read(str(path))


ATTACK = """
from asterism.analysis.source.secrets import secret_content
SIZE = 1_000_000
UNITS = (
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\\n", "-----BEGIN ", "\\n", " \\n", "{", "$",
    "kind: Config\\nusers\\n", "users kind:   ", '"type"  ', "service_account", 'users\\n"token": ',
    "machine a login ", "machine \\n", "machine a\\n login b\\n", "hostname:port:database a:1:", "a:" ,
    "//a:_authToken=", "[pypi]\\npassword", '"auths" : {', "aws_secret_access_key = a", "a:$1$",
    "https://a:b@c\\n", "https://a:", "AGE-SECRET-KEY-1", "[Interface]\\nPrivateKey", "a" * 41 + "\\n",
    '{"installed": {', 'client_secret "installed"', "ada:$2y$10$" + "a" * 53 + "\\n", "{SHA}",
)
for unit in UNITS:
    for tail in ("", "!", "a" * 1000):
        secret_content("x.conf", (unit * (SIZE // len(unit)) + tail).encode())
        secret_content("x.txt", (unit * (SIZE // len(unit)) + tail).encode())
print("done")
"""


def test_hostile_files_are_checked_in_time() -> None:
    """They take a few seconds together; a pattern that backtracks takes for ever."""
    done = subprocess.run(
        [sys.executable, "-c", ATTACK], capture_output=True, check=False, text=True, timeout=240
    )
    assert done.stdout == "done\n", done.stderr
