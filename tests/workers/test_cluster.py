"""On several nodes, of which one is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ray.cluster_utils import Cluster

from storage.dataset import Dataset
from storage.place import Place
from tests.workers.test_on_ray import LONG, LONG_FINGERPRINT, forgive_ray, never
from workers.generation import generate
from workers.on_ray import OnRay
from workers.plan import plan


@contextmanager
def cluster_of(nodes: int) -> Iterator[tuple[Cluster, list[object]]]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        yield cluster, [cluster.add_node(num_cpus=1) for _ in range(nodes)]
    finally:
        cluster.shutdown()
        forgive_ray()


def test_a_node_that_is_taken_away_changes_nothing(tmp_path: Path) -> None:
    what = plan(Place(str(tmp_path)), LONG)
    what.begin()
    with cluster_of(3) as (cluster, nodes):
        executor = OnRay(address=cluster.address)
        lost = 0
        with executor.start():
            for progress in generate(what, executor, never):
                if progress.shards >= 20 and nodes and progress.workers == 3:
                    cluster.remove_node(nodes.pop(), allow_graceful=False)
                    nodes.clear()
                lost = progress.lost
    assert lost >= 1
    assert Dataset(what.place).fingerprint == LONG_FINGERPRINT
