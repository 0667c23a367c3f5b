"""A trained tree as one file, and what it thinks of positions.

The file is a line that says what it is, a header in JSON, the nodes, and a checksum:

    selfplay tree 1
    4 bytes     the length of the header
    header      features, target, parameters, the sizes of what follows, where it comes from
    4 bytes     the length of the nodes, compressed
    nodes       feature int16, value uint16; of each leaf the classes, int32, or int64 if the
                header says so
    16 bytes    BLAKE2b of all that is before

Nodes stand in the order of their depth, so that where their children are follows from how many
they have: a file cannot describe anything but a tree. What inner nodes have counted is the sum of
what is below them.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, mirrored, position_key
from selfplay.kernels.jit import kernel
from selfplay.storage.location import Location
from selfplay.train.features.feature_set import (
    LOOKAHEAD,
    MOVE,
    VERSION,
    FeatureSet,
    SetName,
    consider,
    look,
)
from selfplay.train.features.lookahead import survey
from selfplay.train.tree.criterion import SPLITS, Split
from selfplay.train.tree.tree import LEAF, Tree, walk_down

Target = Literal["move", "candidate"]
Mirror = Literal["augment", "canonical", "off"]

BASE = "models/base"
"""The tree that comes along, unless there is such a file where one is."""
_SHIPPED = Path(__file__).parent / BASE

_MAGIC = b"selfplay tree 1\n"
_MOST_HEADER = 1 << 20
_MOST_NODES = 1 << 22
_MOST_COUNTS = 1 << 24
_MOST_BYTES = 1 << 26
_CHECKSUM = 16
# What a set of features was called when the first models were written.
_NAMES_IN_FILES = {"lookahead": "foresight"}
_NARROW, _WIDE = "<i4", "<i8"

MOST_SMOOTHING = 1e6


@dataclass(frozen=True, eq=False)
class Model:
    """A tree that has learned to choose moves."""

    tree: Tree
    features: FeatureSet
    target: Target
    mirror: Mirror
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """How it was grown."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What it was grown from, with what, and how well it did."""

    @property
    def board(self) -> Board:
        return self.features.board

    @cached_property
    def shares(self) -> Array:
        """float32 [node, class]: what speaks for each class in a node, from 0 to 1."""
        return self.tree.shares.astype(np.float32)

    def scores(self, own: Array, mask: Array) -> Array:
        """float32 [position, column]: what speaks for each move, from 0 to 1; -1 where it cannot
        be made."""
        return self.ask(own, mask)[0]

    def ask(self, own: Array, mask: Array) -> tuple[Array, Array]:
        """The scores, and int32 [position, column], the node in which the tree ends for each."""
        if self.mirror != "canonical" or self.features.sees_no_sides:
            return self._ask_as_it_is(own, mask)
        board = self.board
        image = mirrored(board, own), mirrored(board, mask)
        turn = position_key(board, *image) < position_key(board, own, mask)
        scores, nodes = self._ask_as_it_is(
            np.where(turn, image[0], own), np.where(turn, image[1], mask)
        )
        scores[turn], nodes[turn] = scores[turn, ::-1], nodes[turn, ::-1]
        return scores, nodes

    def _ask_as_it_is(self, own: Array, mask: Array) -> tuple[Array, Array]:
        tree, board = self.tree, self.board
        scores = np.empty((len(own), board.columns), np.float32)
        nodes = np.empty((len(own), board.columns), np.int32)
        _ask_all(
            board,
            own,
            mask,
            self.features.number,
            self.features.perspective == "absolute",
            tree.feature,
            tree.value,
            tree.child,
            tree.filled,
            SPLITS[tree.split],
            self.shares,
            np.empty((board.columns, self._width), np.uint8),
            scores,
            nodes,
        )
        return scores, nodes

    @cached_property
    def _width(self) -> int:
        return len(self.features.widths)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tree and of how it is asked, not of where it comes from."""
        digest = blake2b(json.dumps(self._header(), sort_keys=True).encode(), digest_size=16)
        digest.update(self._body())
        return digest.hexdigest()

    @property
    def _count_kind(self) -> str:
        return _NARROW if self.tree.counts.max(initial=0) < 1 << 31 else _WIDE

    def _header(self) -> dict[str, Any]:
        return {
            "features": _NAMES_IN_FILES.get(self.features.name, self.features.name),
            "features_version": VERSION,
            "perspective": self.features.perspective,
            "board": self.board.size,
            "connect": self.board.connect,
            "target": self.target,
            "mirror": self.mirror,
            "split": self.tree.split,
            # Trees without it are what they were before there was any.
            **({"smoothing": self.tree.smoothing} if self.tree.smoothing else {}),
            **({"counts": _WIDE} if self._count_kind == _WIDE else {}),
            "classes": self.tree.counts.shape[1],
            "nodes": len(self.tree),
            "leaves": int((self.tree.feature == LEAF).sum()),
        }

    def _body(self) -> bytes:
        tree = self.tree
        return b"".join(
            (
                tree.feature.astype("<i2").tobytes(),
                tree.value.astype("<u2").tobytes(),
                tree.counts[tree.feature == LEAF].astype(self._count_kind).tobytes(),
            )
        )

    def to_bytes(self) -> bytes:
        """The file."""
        header = json.dumps(
            {
                **self._header(),
                "fingerprint": self.fingerprint,
                "parameters": dict(self.parameters),
                "provenance": dict(self.provenance),
            }
        ).encode()
        body = zlib.compress(self._body(), 9)
        data = b"".join(
            (_MAGIC, struct.pack("<I", len(header)), header, struct.pack("<I", len(body)), body)
        )
        return data + blake2b(data, digest_size=_CHECKSUM).digest()

    def save(self, path: str) -> None:
        place, name = Location.of_file(path)
        place.write(name, self.to_bytes())

    @classmethod
    def load(cls, path: str) -> Model:
        """Read a model; a file that is none, or is damaged, is refused."""
        if path == BASE and not Path(path).exists():
            path = str(_SHIPPED)
        place, name = Location.of_file(path)
        try:
            data = place.read(name, _MOST_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"there is no model {quoted(path, 200)}") from None
        except IsADirectoryError:
            raise InputError(f"{quoted(path, 200)} is a folder, not a model") from None
        try:
            return cls.from_bytes(data)
        except InputError as error:
            raise InputError(f"{quoted(path, 200)} is no model: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        if not data.startswith(_MAGIC):
            raise InputError("it does not begin as one")
        content, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
        if blake2b(content, digest_size=_CHECKSUM).digest() != checksum:
            raise InputError("it is damaged: its checksum is another")
        try:
            return cls._parsed(content)
        except InputError:
            raise
        except Exception as error:  # a checksum can be right and the rest be nonsense
            raise InputError(f"{type(error).__name__}: {quoted(str(error))}") from None

    @classmethod
    def _parsed(cls, content: bytes) -> Model:
        header_bytes, rest = _part(content[len(_MAGIC) :], _MOST_HEADER)
        compressed, rest = _part(rest, len(rest))
        if rest:
            raise InputError("something stands behind its end")
        header = json.loads(header_bytes)
        if not isinstance(header, dict):
            raise InputError("its header is no object")
        if header["features_version"] != VERSION:
            raise InputError(
                f"its features are of version {header['features_version']}, those here of {VERSION}"
            )
        features = FeatureSet(
            _named_in_file(header),
            Board.parse(header["board"], header["connect"]),
            _one_of(header, "perspective", ("mover", "absolute")),
        )
        target: Target = _one_of(header, "target", get_args(Target))
        classes = 2 if target == "candidate" else features.board.columns
        if header["classes"] != classes or (target == "candidate") != features.by_move:
            raise InputError("its target and its features do not go together")
        return cls(
            _tree_of(header, compressed, features, classes),
            features,
            target,
            _one_of(header, "mirror", get_args(Mirror)),
            dict(header["parameters"]),
            dict(header["provenance"]),
        )


def ready_to_write(path: str) -> None:
    """Refuse at once, not after an hour, where no model can be written."""
    place, name = Location.of_file(path)
    if place.folder is not None and (place.folder / name).is_dir():
        raise InputError(f"{quoted(path, 200)} is a folder: a model is a file")
    place.prove_writable()


def _part(data: bytes, most: int) -> tuple[bytes, bytes]:
    """A part that begins with its length, and what comes after it."""
    if len(data) < 4:
        raise InputError("it is cut off")
    (length,) = struct.unpack("<I", data[:4])
    if length > most or length > len(data) - 4:
        raise InputError("it is cut off, or lies about its lengths")
    return data[4 : 4 + length], data[4 + length :]


def _one_of(header: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Any:
    if header[name] not in known:
        raise InputError(f"{name} is one of {', '.join(known)}, not {quoted(str(header[name]))}")
    return header[name]


def _named_in_file(header: Mapping[str, Any]) -> SetName:
    names = {_NAMES_IN_FILES.get(name, name): name for name in get_args(SetName)}
    found: SetName = names[_one_of(header, "features", tuple(names))]
    return found


def _smoothing_of(header: Mapping[str, Any]) -> float:
    smoothing = header.get("smoothing", 0.0)
    if type(smoothing) is not float or not 0 <= smoothing <= MOST_SMOOTHING:
        raise InputError(f"its smoothing is a number from 0 to {MOST_SMOOTHING:,.0f}")
    return smoothing


def _tree_of(
    header: Mapping[str, Any], compressed: bytes, features: FeatureSet, classes: int
) -> Tree:
    """The tree of the nodes in a file; refused if they are none."""
    split: Split = _one_of(header, "split", get_args(Split))
    nodes, leaves = int(header["nodes"]), int(header["leaves"])
    if not (1 <= leaves <= nodes <= _MOST_NODES and nodes * classes <= _MOST_COUNTS):
        raise InputError("the number of its nodes is out of range")
    kind = _WIDE if header.get("counts", _NARROW) == _WIDE else _NARROW
    size = nodes * 4 + leaves * classes * int(kind[-1])
    unpack = zlib.decompressobj()
    body = unpack.decompress(compressed, size + 1)
    if len(body) != size or not unpack.eof:
        raise InputError("its nodes are not as many as it says")
    feature = np.frombuffer(body, "<i2", nodes).astype(np.int32)
    value = np.frombuffer(body, "<u2", nodes, 2 * nodes).astype(np.int32)
    of_leaves = np.frombuffer(body, kind, leaves * classes, 4 * nodes).reshape(leaves, classes)
    widths = features.widths
    is_leaf = feature == LEAF
    if is_leaf.sum() != leaves or feature.min() < LEAF or feature.max() >= len(widths):
        raise InputError("it asks for features that there are not")
    asked = np.maximum(feature, 0)
    if (value >= np.where(is_leaf, 1 << 16, widths[asked])).any():
        raise InputError("it asks for values that there are not")
    sides = np.where(is_leaf, 0, widths[asked] if split == "multiway" else 2)
    ends = 1 + np.cumsum(sides)
    if ends[-1] != nodes or (ends - sides <= np.arange(nodes))[~is_leaf].any():
        raise InputError("its nodes make no tree")
    counts = np.zeros((nodes, classes), np.int64)
    counts[is_leaf] = of_leaves
    if of_leaves.min() < 0 or of_leaves.sum(dtype=float) >= 2**62:
        raise InputError("it has counted less than nothing, or more than there can be")
    child = np.where(is_leaf, 0, ends - sides).astype(np.int32)
    summed = _summed(counts, child, sides)
    tree = Tree(split, feature, value, child, summed, _smoothing_of(header))
    if not tree.filled[0] or not tree.filled[tree.parent].all():
        raise InputError("it has counted nothing")
    return tree


@kernel
def _summed(counts: Array, child: Array, sides: Array) -> Array:
    """The classes of all nodes, from those of the leaves: children stand behind their parents."""
    for node in range(len(counts) - 1, -1, -1):
        for side in range(sides[node]):
            for k in range(counts.shape[1]):
                counts[node, k] += counts[child[node] + side, k]
    return counts


@kernel
def _ask_all(
    board: Board,
    own: Array,
    mask: Array,
    kind: int,
    absolute: bool,
    feature: Array,
    value: Array,
    child: Array,
    filled: Array,
    split: int,
    shares: Array,
    codes: Array,
    scores: Array,
    nodes: Array,
) -> None:
    """Ask the tree about positions, or about every move in them."""
    by_move = kind in (MOVE, LOOKAHEAD)
    for row in range(len(own)):
        node = 0
        if kind == LOOKAHEAD:
            survey(board, own[row], mask[row], codes)
        elif not by_move:
            look(board, own[row], mask[row], kind, absolute, codes[0])
            node = walk_down(codes[0], feature, value, child, filled, split)
        for column in range(board.columns):
            top = np.uint64(column * board.stride + board.rows - 1)
            if (mask[row] >> top) & np.uint64(1):
                scores[row, column], nodes[row, column] = -1.0, LEAF
                continue
            if by_move:
                if kind == MOVE:
                    consider(board, own[row], mask[row], column, codes[column])
                node = walk_down(codes[column], feature, value, child, filled, split)
            scores[row, column] = shares[node, 1 if by_move else column]
            nodes[row, column] = node
