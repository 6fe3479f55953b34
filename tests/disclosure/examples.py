"""Made-up tokens in real forms, put together so that no scanner takes them for real."""

import random
import string
import zlib
from collections.abc import Mapping

LETTERS = string.ascii_letters
WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = WORD + "+/"
UPPER = string.ascii_uppercase + string.digits
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def made(alphabet: str, length: int, seed: str = "") -> str:
    """Characters of an alphabet, the same in every run."""
    chance = random.Random(f"{alphabet}{length}{seed}")
    return "".join(chance.choice(alphabet) for _ in range(length))


def with_checksum(prefix: str, body: str) -> str:
    """A token as GitHub and npm issue it."""
    number, digits = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return f"{prefix}{body}{digits.rjust(6, '0')}"


JWT = f"eyJ{made(WORD, 33)}.eyJ{made(WORD, 60)}.{made(WORD, 43)}"

GITHUB = with_checksum("ghp" + "_", made(WORD, 30))
AWS = "AKIA" + made(UPPER, 16)

TOKENS: Mapping[str, tuple[str, ...]] = {
    "AWS access key": (AWS, "ASIA" + made(UPPER, 16)),
    "AWS Bedrock key": ("ABSK" + made(BASE64, 128) + "==",),
    "GitHub token": (
        GITHUB,
        with_checksum("gho" + "_", made(WORD, 30)),
        with_checksum("ghs" + "_", made(WORD, 30, "s")),
        f"github_pat_{made(WORD, 22)}_{made(WORD, 59)}",
    ),
    "GitLab token": (
        "glpat-" + made(WORD, 20),
        "glrt-" + made(WORD, 20),
        f"glpat-{made(WORD, 27)}.01.{made(HEX, 9)}",
    ),
    "Slack token": (
        f"xoxb-{made('123456789', 12)}-{made('123456789', 12)}-{made(WORD, 24)}",
        f"xoxp-{made('123456789', 11)}-{made('123456789', 12)}-{made(HEX, 32)}",
        f"xapp-1-{made(UPPER, 11)}-{made('123456789', 13)}-{made(HEX, 64)}",
    ),
    "Stripe key": (
        "sk" + "_live_" + made(WORD, 24),
        "rk" + "_test_" + made(WORD, 99),
        "whsec_" + made(WORD, 32),
    ),
    "JSON web token": (JWT,),
    "Google API key": ("AIza" + made(WORD, 35),),
    "Google OAuth secret": ("GOCSPX-" + made(WORD, 28),),
    "Google OAuth token": ("ya29." + made(WORD, 120),),
    "npm token": (with_checksum("npm" + "_", made(WORD, 30)),),
    "PyPI token": ("pypi-AgEIcHlwaS5vcmc" + made(WORD, 120),),
    "RubyGems token": ("rubygems_" + made(HEX, 48),),
    "crates.io token": ("cio" + made(WORD, 32),),
    "Docker token": ("dckr_pat_" + made(WORD, 27),),
    "OpenAI key": (
        f"sk-{made(WORD, 20)}T3BlbkFJ{made(WORD, 20)}",
        "sk-proj-" + made(WORD, 100),
        "sk-" + made(WORD, 48),
    ),
    "Anthropic key": (f"sk-ant-api03-{made(WORD, 93)}AA",),
    "OpenRouter key": ("sk-or-v1-" + made(HEX, 64),),
    "Voyage key": ("pa-" + made(WORD, 43),),
    "Hugging Face token": ("hf_" + made(LETTERS, 34),),
    "Perplexity key": ("pplx-" + made(WORD, 48),),
    "Groq key": ("gsk_" + made(WORD, 52),),
    "xAI key": ("xai-" + made(WORD, 80),),
    "SendGrid key": (f"SG.{made(WORD, 22)}.{made(WORD, 43)}",),
    "Sendinblue key": (f"xkeysib-{made(HEX, 64)}-{made(WORD, 16)}",),
    "Mailgun key": ("key-" + made(HEX, 32),),
    "Mailchimp key": (made(HEX, 32, "m") + "-us12",),
    "Twilio key": ("SK" + made(HEX, 32),),
    "Azure client secret": (f"{made(WORD, 3)}8Q~{made(WORD, 34)}",),
    "DigitalOcean token": ("dop_v1_" + made(HEX, 64),),
    "Databricks token": ("dapi" + made(HEX, 32),),
    "Doppler token": ("dp.pt." + made(WORD, 43),),
    "Dynatrace token": (f"dt0c01.{made(UPPER, 24)}.{made(UPPER, 64)}",),
    "Vault token": ("hvs." + made(WORD, 95),),
    "Terraform token": (f"{made(WORD, 14)}.atlasv1.{made(WORD, 67)}",),
    "Pulumi token": ("pul-" + made(HEX, 40),),
    "Grafana token": (f"glsa_{made(WORD, 32)}_{made(HEX, 8)}", "glc_" + made(WORD, 60)),
    "Sentry token": ("sntryu_" + made(HEX, 64), "sntrys_eyJ" + made(WORD, 120)),
    "Shopify token": ("shpat_" + made(HEX, 32),),
    "Square token": ("sq0atp-" + made(WORD, 22),),
    "Facebook token": ("EAAC" + made(WORD, 140),),
    "Linear key": ("lin_api_" + made(WORD, 40),),
    "Notion token": (f"ntn_{made('0123456789', 11)}{made(WORD, 35)}",),
    "Postman key": (f"PMAK-{made(HEX, 24)}-{made(HEX, 34)}",),
    "Prefect key": ("pnu_" + made(WORD, 36),),
    "PlanetScale token": ("pscale_tkn_" + made(WORD, 43),),
    "1Password token": ("ops_eyJ" + made(WORD, 300),),
    "age key": ("AGE-SECRET-KEY-1" + made("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),),
    "Alibaba key": ("LTAI" + made(WORD, 20),),
    "Adobe secret": ("p8e-" + made(WORD, 32),),
    "Artifactory token": ("AKCp" + made(WORD, 69),),
    "Cloudflare key": (f"v1.0-{made(HEX, 24)}-{made(HEX, 146)}",),
    "Fly.io token": ("fo1_" + made(WORD, 43),),
    "Heroku key": ("HRKU-AA" + made(WORD, 58),),
    "OpenShift token": ("sha256~" + made(WORD, 43),),
    "ReadMe key": ("rdme_" + made(string.ascii_lowercase, 70),),
    "Shippo token": ("shippo_live_" + made(HEX, 40),),
    "Sourcegraph token": (f"sgp_{made(HEX, 16)}_{made(HEX, 40)}",),
    "Supabase key": ("sbp_" + made(HEX, 40),),
    "Telegram token": (f"{made('123456789', 10)}:AA{made(WORD, 33)}",),
    "Discord token": (f"M{made(WORD, 23)}.{made(WORD, 6)}.{made(WORD, 38)}",),
}
"""By the kind that the mask names; each is masked wherever it stands."""

IN_CONTEXT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "AWS secret key": (
        ('aws_secret_access_key = "{}"', made(BASE64, 40)),
        ("AWS_SECRET_ACCESS_KEY={}", made(BASE64, 40, "b")),
        ('"secretAccessKey": "{}"', made(BASE64, 40, "c")),
        ('AWS_SECRET = "{}"', made(BASE64, 40, "d")),
        ('const awsSecret = "{}";', made(BASE64, 40, "e")),
        ("aws-secret: {}", made(BASE64, 40, "f")),
        ('AWS_SECRET: str = "{}"', made(BASE64, 40, "g")),
        ('static AWS_SECRET: &str = "{}";', made(BASE64, 40, "h")),
        ("define('AWS_SECRET', '{}');", made(BASE64, 40, "i")),
        ('connect(s3_secret="{}")', made(BASE64, 40, "j")),
    ),
    "GitLab session": (("Cookie: _gitlab_session={}", made(HEX, 32)),),
    "Slack webhook": (
        (
            "https://hooks.slack.com/services/{}",
            f"T{made(UPPER, 8)}/B{made(UPPER, 8)}/{made(WORD, 24)}",
        ),
    ),
    "Discord webhook": (
        ("https://discord.com/api/webhooks/{}", f"{made('123456789', 18)}/{made(WORD, 68)}"),
    ),
    "npm token": (("//registry.example/:_authToken={}", made(HEX, 36)),),
    "Azure storage key": (
        ("DefaultEndpointsProtocol=https;AccountKey={};x", made(BASE64, 86) + "=="),
        ('"account_key": "{}"', made(BASE64, 86, "b") + "=="),
        ("SharedAccessKey={}", made(BASE64, 43) + "="),
    ),
    "Azure signature": (
        ("https://x.example/?sv=2&sig={}&se=1", made(WORD, 43) + "%3D"),
        ("https://x.example/?sig={}&se=1", made(WORD, 43) + "%3D"),
        ("https://x.example/?sr=b&amp;sp=r&amp;sig={}", made(WORD, 43) + "%3D"),
        ("'SharedAccessSignature sr=x&sig={}&skn=k'", made(WORD, 43) + "%3D"),
    ),
    "password in a connection": (
        ('"Server=db;User Id=sa;Password={};"', "correct-horse-1"),
        ("'Host=db;Pwd={}'", "battery7staple"),
    ),
    "password in an address": (
        ("postgres://app:{}@db.example:5432/x", "s3cr3t-Pa55"),
        ("https://me:{}@[::1]/", "tr0ub4dor&3"),
        ("redis://:{}@cache", "hunter22"),
    ),
    "authorization header": (
        ('"Authorization": "Bearer {}"', made(WORD, 32)),
        ("curl -H 'Authorization: Basic {}'", made(WORD, 24) + "=="),
    ),
}
"""A line with a place for the token, and the token: it has no form of its own."""

KEY_BODY = [made(BASE64, 64, str(number)) for number in range(12)]


def private_key(kind: str = "RSA PRIVATE KEY", ending: str = "\n") -> str:
    """A private key as files and, with another ending, as strings in code have it."""
    dashes = "-" * 5
    lines = [f"{dashes}BEGIN {kind}{dashes}", *KEY_BODY, f"{dashes}END {kind}{dashes}"]
    return ending.join(lines)
