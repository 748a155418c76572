"""``bridge options``: every option has a meaning, and the values that it names are those that the driver takes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner

from firmware_bridge.cli import main
from firmware_bridge.cli.options import Option, options_of
from firmware_bridge.drivers.registry import drive, driver_names, options_type
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.problems import ConfigProblem

DRIVERS = ("feig", "keypad", "metratec", "panel", "pepper", "streamdeck")
PORTS = {"keypad": "/dev/input/by-id/x-event-kbd", "streamdeck": "streamdeck:"}
ALONE: dict[str, dict[str, Any]] = {
    "inventory_timeout_ms": {"silent_limit": 1},
    "reply_timeout_ms": {"silent_limit": 1},
    "ping_ms": {"silent_ms": 200},
    "silent_limit": {"reply_timeout_ms": 2},
}
"""Options whose ends are only good together with others."""


def all_options() -> list[tuple[str, Option]]:
    found = []
    for name in DRIVERS:
        kind = options_type(name)
        assert kind is not None
        found += [(name, option) for option in options_of(kind)]
    return found


def accepted(driver: str, **options: Any) -> bool:
    if driver in ("feig", "metratec", "pepper"):
        options.setdefault("antennas", [1])
    try:
        drive(DeviceConfig("x", driver, PORTS.get(driver, "/dev/x"), options=options))
    except ConfigProblem:
        return False
    return True


def test_every_built_in_driver_is_looked_at() -> None:
    assert set(DRIVERS) <= set(driver_names())


@pytest.mark.parametrize(("driver", "option"), all_options(), ids=lambda v: getattr(v, "name", v))
def test_an_option_says_what_it_means_and_its_true_range(driver: str, option: Option) -> None:
    assert len(option.means) > 10, "no text"
    span = re.search(r"; (\d+) to (\d+)\.", option.means)
    if option.values == "a whole number":
        assert span or re.search(r"steps of|, 0 or 1|multiple|whole seconds|as many as", option.means), option.means
    if span is None:
        return
    low, high = int(span[1]), int(span[2])
    listed = option.values == "a list"
    beside = ALONE.get(option.name, {}) if (driver, option.name) != ("feig", "ping_ms") else {}
    for value in (low, high):
        assert accepted(driver, **beside, **{option.name: [value] if listed else value}), value
    for value in (low - 1, high + 1):
        assert not accepted(driver, **beside, **{option.name: [value] if listed else value}), value


def test_a_choice_that_is_shown_is_taken() -> None:
    for driver, option in all_options():
        for value in re.findall(r'"(\w+)"', option.values):
            assert accepted(driver, **{option.name: value}), (driver, option)


def test_the_command_lists_them() -> None:
    out = CliRunner().invoke(main, ["options", "feig"]).output
    flat = " ".join(out.split())
    assert 'mode "host" or "buffered" or "notify", default "host"' in flat
    assert "antennas a list, must be given" in flat
    assert all(len(line) <= 100 for line in out.splitlines())
    assert CliRunner().invoke(main, ["options"]).output.split() == list(driver_names())
    nobody = CliRunner().invoke(main, ["options", "fieg"])
    assert nobody.exit_code == 1
    assert "there is no driver 'fieg'. Drivers here: feig" in nobody.output
