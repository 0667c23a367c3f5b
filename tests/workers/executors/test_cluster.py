"""On several nodes, of which one is taken away; and with a Ray of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ray.cluster_utils import Cluster

from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.distributed import DistributedGrower
from selfplay.train.tree.grower import grow
from selfplay.workers.executors.interface import WorkerStatus
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from tests.train.tree.test_distributed import slices
from tests.train.tree.test_grower import random_matrix, same
from tests.workers.executors.jobs import Squares
from tests.workers.executors.test_ray import LONG, LONG_FINGERPRINT, forgive_ray, never, squares


@contextmanager
def cluster_of(nodes: int) -> Iterator[tuple[Cluster, list[object]]]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        yield cluster, [cluster.add_node(num_cpus=1) for _ in range(nodes)]
    finally:
        cluster.shutdown()
        forgive_ray()


def test_a_node_that_is_taken_away_changes_nothing(tmp_path: Path) -> None:
    what = plan(Location(str(tmp_path)), LONG)
    what.begin()
    with cluster_of(3) as (cluster, nodes):
        executor = RayExecutor(address=cluster.address)
        lost = 0
        with executor.start():
            for progress in generate(what, executor, never):
                if progress.shards >= 10 and nodes and progress.workers == 3:
                    cluster.remove_node(nodes.pop(), allow_graceful=False)
                    nodes.clear()
                lost = progress.lost
    assert lost >= 1
    assert Dataset(what.place).fingerprint == LONG_FINGERPRINT


def test_a_tree_grown_over_two_nodes_is_the_tree_of_one_process() -> None:
    with cluster_of(2) as (cluster, _), RayExecutor(address=cluster.address).start():
        spread = DistributedGrower(slices, 2)
        tree = spread.grow("entropy", "threshold", Limits(min_samples_leaf=3))
    assert same(tree, grow(random_matrix(3000), "entropy", "threshold", Limits(min_samples_leaf=3)))


def test_lost_workers_that_were_idle_cost_no_item_its_retries(tmp_path: Path) -> None:
    job = Squares(str(tmp_path), bad=0, how="kill idle")
    executor = RayExecutor(4)
    with executor.start():
        events = list(executor.run(job, range(6), never))
    assert squares(events) == [0, 1, 4, 9, 16, 25]
    crew = [event for event in events if isinstance(event, WorkerStatus)][-1]
    assert crew.retries == 1
    forgive_ray()
