"""Does a server answer its user's programs and bearers of the token, and no other user?"""

import json
import signal
import stat
import sys
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from asterism.operations.registry import OPERATIONS
from asterism.servers.access import Access, Identity, IdentityKind, access_for
from asterism.servers.http.gate import Gate
from asterism.servers.http.routes import routed
from tests.servers.http_clients import WAIT_SECONDS, Served, served
from tests.servers.other_user import IS_ROOT, asked_by_other_user
from tests.servers.test_http_gate import HOST, Headers, ask, echo
from tests.servers.test_http_serve import TOKEN, refusal

OWN = 1_000
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who a peer is")


class Peer(NamedTuple):
    """A connection of which the system tells this."""

    uid: int | None


def status_of(
    access: Access, uid: int | None = OWN, headers: Headers | None = None, path: str = "/x"
) -> int:
    raw = [*([] if any(name == "host" for name, _ in headers or []) else [HOST]), *(headers or [])]
    state = {"connection": Peer(uid)}
    return ask(Gate(echo, access), raw, state=state, path=path).status


def made(**rules: Any) -> Access:
    return Access(renewed=lambda: TOKEN, own_uid=OWN, **rules)


@pytest.mark.parametrize(
    ("uid", "headers", "status"),
    [
        (OWN, [], 200),
        (OWN, [("user-agent", "curl/8.5.0")], 200),
        # Node's programs send a part of what browsers do.
        (OWN, [("user-agent", "node"), ("sec-fetch-mode", "cors")], 200),
        (OWN + 1, [], 401),
        (0, [], 401),
        (None, [], 401),
        (OWN + 1, [("authorization", f"Bearer {TOKEN}")], 200),
        (None, [("authorization", f"Bearer {TOKEN}")], 200),
        # A wrong token is not made good by the user who sends it.
        (OWN, [("authorization", f"Bearer {TOKEN[::-1]}")], 401),
        (OWN, [("authorization", "Bearer ")], 401),
        # Pages ask through a browser of the same user, and clients through a proxy.
        (OWN, [("origin", "http://127.0.0.1:8420")], 401),
        (OWN, [("sec-fetch-site", "cross-site")], 401),
        (OWN, [("sec-fetch-site", "none")], 401),
        (OWN, [("referer", "http://127.0.0.1:8420/")], 401),
        (OWN, [("cookie", "a=b")], 401),
        (OWN, [("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101")], 401),
        (OWN, [("x-forwarded-for", "10.0.0.9")], 401),
        (OWN, [("X-Forwarded-Host".lower(), "code.example")], 401),
        (OWN, [("forwarded", "for=10.0.0.9")], 401),
        (OWN, [("via", "1.1 proxy")], 401),
        (OWN, [("x-real-ip", "10.0.0.9")], 401),
        (OWN, [("via", "1.1 proxy"), ("authorization", f"Bearer {TOKEN}")], 200),
        (OWN, [("host", "code.example")], 421),
    ],
)
def test_who_is_answered(uid: int | None, headers: Headers, status: int) -> None:
    assert status_of(made(), uid, headers) == status
    assert status_of(made(), uid, headers, "/metrics") == status
    # Every client that uses the server's name may ask whether it runs.
    is_named = status != 421
    assert status_of(made(), uid, headers, "/healthz") == (200 if is_named else 421)


def test_a_name_of_a_proxy_is_not_this_machine() -> None:
    access = made(hosts=frozenset({"127.0.0.1", "code.example"}))
    assert status_of(access, OWN, [("host", "code.example")]) == 401
    assert status_of(access, OWN, [("host", "127.0.0.1")]) == 200


def test_a_token_that_the_user_chose_is_asked_of_every_client() -> None:
    access = access_for("127.0.0.1", TOKEN)
    assert status_of(access, OWN) == 401
    assert status_of(access, OWN, [("authorization", f"Bearer {TOKEN}")]) == 200


def test_a_token_that_is_not_known_opens_nothing() -> None:
    access = Access(renewed=lambda: "")
    assert status_of(access, OWN) == 401
    assert status_of(access, OWN, [("authorization", "Bearer ")]) == 401


@pytest.mark.parametrize(
    ("access", "uid", "headers", "client"),
    [
        (made(), OWN, [], Identity(IdentityKind.user, "1000")),
        (made(), 7, [("authorization", f"Bearer {TOKEN}")], Identity(IdentityKind.token, "7")),
        (
            made(),
            None,
            [("authorization", f"Bearer {TOKEN}")],
            Identity(IdentityKind.token, "10.0.0.9"),
        ),
        (Access(), 7, [], Identity(IdentityKind.anyone, "7")),
        (Access(), None, [], Identity(IdentityKind.anyone, "10.0.0.9")),
    ],
)
def test_routes_are_told_who_asks(
    access: Access, uid: int | None, headers: Headers, client: Identity
) -> None:
    told: list[Identity] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        told.append(scope["state"]["identity"])
        await echo(scope, receive, send)

    state = {"connection": Peer(uid)}
    heard = ask(Gate(note, access), [HOST, *headers], state=state, client=("10.0.0.9", 5))
    assert heard.status == 200
    assert told == [client]


JSON = {"content-type": "application/json"}


def line(method: str, path: str, body: Any = None, **headers: str) -> str:
    """A request, as another process is given it."""
    text = json.dumps(body or {}) if method == "POST" else None
    return json.dumps([method, path, {**JSON, **headers}, text])


def asked(server: Served, text: str) -> str:
    """The status of a request and the code of its failure."""
    method, path, headers, body = json.loads(text)
    answer = httpx.request(
        method, f"{server.address}{path}", headers=headers, content=body, timeout=WAIT_SECONDS
    )
    code = answer.json()["error"]["code"] if answer.status_code >= 400 else ""
    return f"{answer.status_code} {code}".strip()


METRICS = line("GET", "/metrics")
RELAYED = line("GET", "/metrics", **{"x-forwarded-for": "10.0.0.9"})
REFUSED = "401 unauthorized"
ROUTES = [("GET", "/metrics"), ("GET", "/api/openapi.json"), ("POST", "/mcp"), ("GET", "/none")]
ROUTES += [
    (route.method, route.path.replace("{repository_id}", "harbor"))
    for route, _ in routed(OPERATIONS)
]


@on_linux
def test_no_other_user_of_the_machine_is_answered(indexed_base: Path, harbor: Path) -> None:
    with served(indexed_base, harbor) as server:
        own = httpx.post(f"{server.address}/tools/vector-search", json={"query": "webhook"})
        assert own.status_code == 200
        if IS_ROOT:
            lines = [line(*route) for route in ROUTES]
            health, *others = asked_by_other_user(server.address, line("GET", "/healthz"), *lines)
            assert health == "200 "
            assert others == [REFUSED] * len(ROUTES)
        # Where no other user can be played, the gate was told of one above.
        for route in ROUTES:
            assert asked(server, line(*route, via="1.1 proxy")) == REFUSED, route


@on_linux
def test_a_directory_of_the_user_is_not_registered_by_another(tmp_path: Path, harbor: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)
    (secret / "key.py").write_text("KEY = 'swordfish'\n")
    (tmp_path / "asterism.toml").touch()
    attempt = line("POST", "/api/repositories", {"path": str(secret)})
    with served(tmp_path, harbor, ASTERISM_SERVER_ROOTS=str(tmp_path)) as server:
        if IS_ROOT:
            assert asked_by_other_user(server.address, attempt) == [REFUSED]
        assert httpx.get(f"{server.address}/api/repositories").json()["repositories"] == []
        assert asked(server, attempt) == "200"


def test_the_token_is_in_a_private_file_and_nowhere_else(tmp_path: Path, harbor: Path) -> None:
    with served(tmp_path, harbor, ASTERISM_SERVER_ACCESS="token") as server:
        file = tmp_path / "data" / "server" / "token"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        token = file.read_text().strip()
        assert httpx.get(f"{server.address}/healthz").text == "ok\n"
        refused = httpx.get(f"{server.address}/metrics")
        assert refused.status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        wrong = {"authorization": f"Bearer {token[::-1]}"}
        told = [refused.text, httpx.get(f"{server.address}/metrics", headers=wrong).text]
        paths = ("/metrics", "/api/status", "/api/repositories", "/api/openapi.json")
        told += [httpx.get(f"{server.address}{path}", headers=bearer).text for path in paths]
        # A server that starts later shares it.
        with served(tmp_path, harbor, ASTERISM_SERVER_ACCESS="token") as second:
            assert httpx.get(f"{second.address}/metrics", headers=bearer).status_code == 200
            second.end(signal.SIGTERM)
        # A token that was renewed counts for servers that run.
        file.unlink()
        with served(tmp_path, harbor) as third:
            third.end(signal.SIGTERM)
        renewed = {"authorization": f"Bearer {file.read_text().strip()}"}
        assert renewed != bearer
        assert httpx.get(f"{server.address}/metrics", headers=renewed).status_code == 200
        assert httpx.get(f"{server.address}/metrics", headers=bearer).status_code == 401
        command = Path(f"/proc/{server.process.pid}/cmdline")
        if command.exists():
            told.append(command.read_text())
        assert server.end(signal.SIGTERM) == 0
        assert server.process.stdout is not None
        assert server.process.stderr is not None
        told += [server.process.stdout.read(), server.process.stderr.read()]
    assert not any(token in text for text in told)


def test_a_server_without_a_token_says_so_and_is_for_this_machine(
    tmp_path: Path, harbor: Path
) -> None:
    with served(tmp_path, harbor, "--no-token") as server:
        if IS_ROOT:
            assert asked_by_other_user(server.address, METRICS) == ["200 "]
        assert asked(server, RELAYED) == "200"
        assert not (tmp_path / "data" / "server").exists()
        assert server.end(signal.SIGTERM) == 0
    said = refusal(tmp_path, "--no-token", "--host", "0.0.0.0", "--port", "0")
    assert "for this machine alone" in said
    said = refusal(tmp_path, "--no-token", "--port", "0", ASTERISM_SERVER_TOKEN=TOKEN)
    assert "without a token" in said


def test_a_repository_cannot_open_the_server(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text('[server]\naccess = "open"\nroots = ["/"]\n')
    with served(tmp_path, tmp_path, ASTERISM_DATA_DIR=str(tmp_path / "data")) as server:
        assert asked(server, RELAYED) == REFUSED


@on_linux
def test_a_token_that_cannot_be_kept_leaves_the_server_to_its_user(
    tmp_path: Path, harbor: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "server").write_text("in the way")
    with served(tmp_path, harbor) as server:
        assert httpx.get(f"{server.address}/metrics").status_code == 200
        if IS_ROOT:
            assert asked_by_other_user(server.address, METRICS) == [REFUSED]
        assert server.end(signal.SIGTERM) == 0
        assert server.process.stderr is not None
        assert "only your own programs" in server.process.stderr.read()
    said = refusal(tmp_path, "--port", "0", ASTERISM_SERVER_ACCESS="token")
    assert "set ASTERISM_SERVER_TOKEN" in said
