"""The cluster files: what Ray takes them for, and keys that it would not notice to be misspelt."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT

LAUNCHED = [ROOT / "cluster.yaml", ROOT / "docs/cluster/on-premise.yaml"]
RAYJOB = ROOT / "docs/cluster/rayjob.yaml"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", LAUNCHED, ids=lambda path: path.name)
def test_ray_takes_it_for_a_cluster(path: Path) -> None:
    util = pytest.importorskip("ray.autoscaler._private.util")
    if not hasattr(util, "prepare_config"):
        pytest.skip("Ray has moved what it checks its files with")
    util.validate_config(util.prepare_config(read(path)))


@pytest.mark.parametrize("path", LAUNCHED, ids=lambda path: path.name)
def test_no_key_of_the_provider_is_misspelt(path: Path) -> None:
    import ray.autoscaler

    schema = json.loads((Path(ray.autoscaler.__file__).parent / "ray-schema.json").read_text())
    provider = read(path)["provider"]
    assert set(provider) <= set(schema["properties"]["provider"]["properties"])


def misspelt(given: Any, shape: Any, where: str) -> list[str]:
    """The keys that a request of the provider does not have."""
    if shape.type_name == "structure":
        found = [f"{where}.{key}" for key in given if key not in shape.members]
        known = [key for key in given if key in shape.members]
        return found + [
            problem
            for key in known
            for problem in misspelt(given[key], shape.members[key], f"{where}.{key}")
        ]
    if shape.type_name == "list":
        return [
            problem
            for number, item in enumerate(given)
            for problem in misspelt(item, shape.member, f"{where}[{number}]")
        ]
    return []


def run_instances() -> Any:
    """What may stand in a request to start machines, as the provider itself describes it."""
    from botocore.session import Session

    return Session().get_service_model("ec2").operation_model("RunInstances").input_shape


@pytest.mark.parametrize("node_type", ["head", "worker"])
def test_no_key_of_a_machine_is_misspelt(node_type: str) -> None:
    config = read(ROOT / "cluster.yaml")["available_node_types"][node_type]["node_config"]
    assert misspelt(config, run_instances(), node_type) == []
    broken = {**config, "InstanceMarketOption": {}, "IamInstanceProfile": {"Nam": "x"}}
    assert misspelt(broken, run_instances(), "n") == [
        "n.InstanceMarketOption",
        "n.IamInstanceProfile.Nam",
    ]


def test_the_head_plays_no_games_and_workers_are_spot() -> None:
    kinds = read(ROOT / "cluster.yaml")["available_node_types"]
    assert kinds["head"]["resources"] == {"CPU": 0}
    assert "InstanceMarketOptions" not in kinds["head"]["node_config"]
    assert kinds["worker"]["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}


def test_the_job_on_kubernetes_has_the_version_of_ray_that_was_tested() -> None:
    job = read(RAYJOB)
    pinned = re.search(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(), re.M)
    assert pinned is not None
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert job["spec"]["rayClusterSpec"]["rayVersion"] == pinned[1]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]
    assert head["rayStartParams"]["num-cpus"] == "0"


@pytest.mark.parametrize("path", [*LAUNCHED, RAYJOB, ROOT / "docs/cluster/slurm.sh"], ids=str)
def test_the_commands_in_it_are_right(path: Path) -> None:
    """Every command that generates is one that the command line would take."""
    from typer.main import get_command

    from selfplay.cli.main import app

    generate = get_command(app).commands["generate"]  # type: ignore[attr-defined]
    known = {option for parameter in generate.params for option in parameter.opts}
    found = re.findall(r"selfplay generate ([^'\n]+)", path.read_text())
    assert found
    for words in found:
        assert set(re.findall(r"--[a-z-]+", words)) <= known


def test_the_script_for_slurm_is_a_script() -> None:
    subprocess.run(["bash", "-n", str(ROOT / "docs/cluster/slurm.sh")], check=True)
