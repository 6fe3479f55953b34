"""Keys and texts that a model is sent are in no log, at any level."""

import logging

import pytest

from tests.llm.asking import VENDORS, Vendor, ask, model_of, request
from tests.llm.loopback import Say

KEY = "sk-secret-0123456789"


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)
@pytest.mark.parametrize("says", [[Say("ok")], [Say(status=500), Say("ok")]])
def test_our_log_is_silent_about_them(
    vendor: Vendor, says: list[Say], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "asterism")
    with vendor.fake(says) as server:
        ask(model_of(vendor, server.url, api_key=KEY), request("the plan for tomorrow"))
    ours = "\n".join(one.getMessage() for one in caplog.records if one.name == "asterism")
    assert KEY not in ours
    assert "the plan" not in ours
    assert ("retry" in ours) is (len(says) == 2)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)
def test_no_library_logs_the_key(vendor: Vendor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with vendor.fake([Say("ok")]) as server:
        ask(model_of(vendor, server.url, api_key=KEY))
    assert len(caplog.records) > 0
    assert KEY not in caplog.text
