"""A run on hosts that share a network and an object store, nothing else; some are lost."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from tests import ROOT
from tests.hosts.hosts import Host, Network, network, obstacle
from tests.workers.generation.test_generate import OPTIONS, made

RUN = "s3://runs/run"
SHARDS = 200
# Long enough for hosts to be lost in the midst of it.
LONG: dict[str, Any] = {**OPTIONS, "games": SHARDS * 5, "teacher": "mcts:20000"}

MAKE_BUCKET = """
import http.client, sys, time
while True:
    try:
        store = http.client.HTTPConnection(sys.argv[1])
        store.request("PUT", "/runs")
        sys.exit(store.getresponse().status != 200)
    except ConnectionRefusedError:
        time.sleep(0.1)
"""


@dataclass
class Cluster:
    """Ray on several hosts. The first of them has the object store, and does no work."""

    network: Network
    head: Host
    address: str
    workers: list[Host]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    if reason := obstacle():
        pytest.skip(reason)
    environment = {
        "PYTHONPATH": str(ROOT),
        "AWS_ENDPOINT_URL": "http://10.77.0.1:5000",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        # All have to know the same secret, or none. Left alone, Ray would take the one that this
        # machine's user happens to have.
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        # After a minute Ray would notice that a host is silent. It is not to be waited for.
        "RAY_health_check_failure_threshold": "1000",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--object-store-memory=80000000"]
    with network(tmp_path, environment) as hosts:
        head = hosts.add()
        head.start(sys.executable, "-m", "moto.server", "-H", head.address, "-p", "5000")
        as_head = ["--head", "--port=6379", "--num-cpus=0", "--include-dashboard=false"]
        head.run(*ray, f"--node-ip-address={head.address}", *as_head)
        head.run(sys.executable, "-c", MAKE_BUCKET, f"{head.address}:5000")
        workers = [hosts.add() for _ in range(3)]
        for host in workers:
            as_worker = [f"--address={head.address}:6379", "--num-cpus=1", "--block"]
            host.start(*ray, f"--node-ip-address={host.address}", *as_worker)
        yield Cluster(hosts, head, f"{head.address}:6379", workers)


def test_a_killed_host_and_one_that_is_cut_off_change_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    killed, cut_off, _ = cluster.workers
    misfortunes = [
        (SHARDS // 4, killed.kill),
        (SHARDS // 2, lambda: cluster.network.cut(cut_off)),
    ]
    options = {**LONG, "address": cluster.address, "workers": len(cluster.workers)}
    driver = cluster.head.start(
        *[sys.executable, "-m", "selfplay", "generate", RUN, "--json"],
        *[f"--{name.replace('_', '-')}={value}" for name, value in options.items()],
        stdout=subprocess.PIPE,
    )
    assert driver.stdout is not None
    records = []
    for line in driver.stdout:
        records.append(json.loads(line))
        if misfortunes and records[-1]["shards"] >= misfortunes[0][0]:
            _, befall = misfortunes.pop(0)
            befall()
    assert driver.wait() == 0, cluster.head.errors
    *progress, done = records
    assert done["event"] == "done"
    assert misfortunes == []
    assert progress[-1]["retries"] == 1  # for the one; nobody has noticed that the other is gone

    here = Location(str(tmp_path / "here"))
    made(here, **LONG)
    dataset = [sys.executable, "-m", "selfplay", "dataset"]
    cluster.head.run(*dataset, "verify", RUN)
    found = json.loads(cluster.head.run(*dataset, "info", RUN, "--json"))
    assert (found["shards"], found["missing_shards"], found["strays"]) == (SHARDS, 0, [])
    assert found["fingerprint"] == done["fingerprint"] == Dataset(here).fingerprint
