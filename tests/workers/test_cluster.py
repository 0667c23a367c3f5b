"""On several nodes, of which one is taken away; and with a Ray of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ray.cluster_utils import Cluster

from storage.dataset import Dataset
from storage.place import Place
from tests.train.test_grower import random_matrix, same
from tests.train.test_spread import slices
from tests.workers.jobs import Squares
from tests.workers.test_on_ray import LONG, LONG_FINGERPRINT, forgive_ray, never, squares
from train.grower import Limits, grow
from train.spread import Spread
from workers.generation import generate
from workers.jobs import Crew
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


def test_a_tree_grown_over_two_nodes_is_the_tree_of_one_process() -> None:
    with cluster_of(2) as (cluster, _), OnRay(address=cluster.address).start():
        spread = Spread(slices, 2)
        tree = spread.grow("entropy", "threshold", Limits(min_samples_leaf=3))
    assert same(tree, grow(random_matrix(3000), "entropy", "threshold", Limits(min_samples_leaf=3)))


def test_lost_workers_that_were_idle_cost_no_item_its_retries(tmp_path: Path) -> None:
    job = Squares(str(tmp_path), bad=0, how="kill idle")
    executor = OnRay(4)
    with executor.start():
        events = list(executor.run(job, range(6), never))
    assert squares(events) == [0, 1, 4, 9, 16, 25]
    crew = [event for event in events if isinstance(event, Crew)][-1]
    assert crew.retries == 1
    forgive_ray()
