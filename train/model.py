"""A trained tree: its scores for the moves of a position, and its file.

The file is a magic line, a header in JSON, the weights, the nodes, and a checksum:

    selfplay tree 2
    4 bytes     the length of the header
    header      features, target, parameters, sizes, provenance
    4 bytes     the length of the compressed weights
    weights     int16: phases, of features, of lines; their numbers follow from the header
    4 bytes     the length of the compressed nodes
    nodes       feature int16, value uint16; the class counts of each leaf, int32, or int64 if
                the header says so
    and, if the header has taught moves, the same of them: key uint64, move int8, sorted
    16 bytes    BLAKE2b of everything before

Nodes are sorted by depth, so that the places of children follow from their number: a file cannot
describe anything but a tree. The class counts of inner nodes are the sums of those below.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import numpy as np

from selfplay.arrays import Array, bitboards
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, mirrored, position_key
from selfplay.kernels.jit import kernel
from selfplay.notebook import table
from selfplay.storage.location import Location
from selfplay.train.config import MAX_SMOOTHING, Features, Mirror, Perspective, Split, Target
from selfplay.train.features.feature_set import FeatureSet, encode_all
from selfplay.train.taught import UNTAUGHT, TaughtMoves
from selfplay.train.tree.tree import LEAF, Nodes, Tree, walk_down
from selfplay.train.weights.weights import Weights

BASE = "models/base"
"""The bundled tree, unless the working folder has such a file."""
_BUNDLED = Path(__file__).parent / BASE

_MAGIC = b"selfplay tree 2\n"
_OLD_MAGIC = b"selfplay tree 1\n"
_MAX_HEADER = 1 << 20
_MAX_NODES = 1 << 22
_MAX_COUNTS = 1 << 24
_MAX_TAUGHT = 1 << 22
_MAX_BYTES = 1 << 26
_CHECKSUM = 16
# Positions that are encoded before their walks.
_BATCH = 1 << 10
_NARROW, _WIDE = "<i4", "<i8"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A tree that chooses moves."""

    tree: Tree
    features: FeatureSet
    target: Target
    mirror: Mirror
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The training options."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Runs, versions and accuracy."""
    taught: TaughtMoves | None = None

    @property
    def board(self) -> Board:
        return self.features.board

    def __repr__(self) -> str:
        return (
            f"<Model: {self.features.name} on {self.board}, {self.tree.leaves:,} leaves, "
            f"fingerprint {self.fingerprint}>"
        )

    def _repr_html_(self) -> str:
        accuracy = self.provenance.get("test_accuracy")
        facts = [
            ("board", str(self.board)),
            ("features", f"{self.features.name}, {self._width} of them"),
            ("target", self.target),
            ("split", self.tree.split),
            ("leaves", f"{self.tree.leaves:,}"),
            ("depth", f"{self.tree.depth}"),
            ("positions", f"{self.provenance.get('rows', 0):,}"),
            ("test accuracy", "" if accuracy is None else f"{accuracy:.1%}"),
            ("fingerprint", self.fingerprint),
        ]
        return table([fact for fact in facts if fact[1]])

    @cached_property
    def shares(self) -> Array:
        """float32 [node, class]"""
        return self.tree.shares.astype(np.float32)

    def scores(self, own: Any, mask: Any) -> Array:
        """float32 [position, column]: the score of each move, from 0 to 1; -1 if illegal. For whole
        numbers of any kind, as `Position.own` and `Position.mask`."""
        return self.predict(own, mask)[0]

    def with_taught(self, moves: Array, own: Array, mask: Array) -> Array:
        """int64 [position, 2]: moves in positions and in their mirror images, mirrored back, with
        the moves that were taught in their place."""
        if self.taught is None:
            return moves
        board = self.board
        found = np.stack(
            (
                self.taught.find(own, mask),
                board.columns - 1 - self.taught.find(mirrored(board, own), mirrored(board, mask)),
            ),
            axis=1,
        )
        is_taught = found[:, 0] != UNTAUGHT
        return np.where(is_taught[:, None], found, moves)

    def predict(self, own: Any, mask: Any) -> tuple[Array, Array]:
        """The scores, and int32 [position, column], the node that each move reached."""
        own, mask = bitboards(own, mask)
        if not self._is_canonical:
            return self._predict(own, mask)
        own, mask, turned = self.seen(own, mask)
        scores, nodes = self._predict(own, mask)
        scores[turned], nodes[turned] = scores[turned, ::-1], nodes[turned, ::-1]
        return scores, nodes

    @property
    def _is_canonical(self) -> bool:
        """Whether the tree sees one of two mirror images."""
        return self.mirror == "canonical" and not self.features.by_move

    @property
    def sees_images_alike(self) -> bool:
        """Whether the scores of two mirror images are mirror images."""
        return self.features.by_move or self._is_canonical

    def seen(self, own: Array, mask: Array) -> tuple[Array, Array, Array]:
        """The positions as the tree sees them, and which of them are mirror images."""
        if not self._is_canonical:
            return own, mask, np.zeros(len(own), np.bool_)
        board = self.board
        image = mirrored(board, own), mirrored(board, mask)
        turned = np.asarray(position_key(board, *image) < position_key(board, own, mask))
        return np.where(turned, image[0], own), np.where(turned, image[1], mask), turned

    def _predict(self, own: Array, mask: Array) -> tuple[Array, Array]:
        board, features = self.board, self.features
        scores = np.empty((len(own), board.columns), np.float32)
        nodes = np.empty((len(own), board.columns), np.int32)
        rows = board.columns if features.by_move else 1
        codes = np.empty((min(len(own), _BATCH), rows, self._width), np.uint8)
        absolute = features.perspective == "absolute"
        for start in range(0, len(own), _BATCH):
            part = slice(start, start + _BATCH)
            seen, taken = own[part], mask[part]
            encode_all(board, seen, taken, features.kind, absolute, self._weights, codes)
            _walk_all(board, taken, codes, self.tree.nodes, self.shares, scores[part], nodes[part])
        return scores, nodes

    @cached_property
    def _weights(self) -> Weights:
        return self.features.known_weights

    @cached_property
    def _width(self) -> int:
        return len(self.features.names)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tree and its features, not of its provenance."""
        digest = blake2b(json.dumps(self._header(), sort_keys=True).encode(), digest_size=16)
        digest.update(self._weight_bytes())
        digest.update(self._body())
        digest.update(self._taught_bytes())
        return digest.hexdigest()

    @property
    def _count_kind(self) -> str:
        return _NARROW if self.tree.counts.max(initial=0) < 1 << 31 else _WIDE

    def _header(self) -> dict[str, Any]:
        return {
            "features": self.features.name,
            "features_version": self.features.version,
            "perspective": self.features.perspective,
            "board": self.board.size,
            "connect": self.board.connect,
            "target": self.target,
            "mirror": self.mirror,
            "split": self.tree.split,
            # Left out where it is the default: older fingerprints stay.
            **({"smoothing": self.tree.smoothing} if self.tree.smoothing else {}),
            **({"counts": _WIDE} if self._count_kind == _WIDE else {}),
            "classes": self.tree.counts.shape[1],
            "nodes": len(self.tree),
            "leaves": int((self.tree.feature == LEAF).sum()),
            **({"taught": len(self.taught)} if self.taught else {}),
        }

    def _weight_bytes(self) -> bytes:
        return self._weights.to_bytes() if self.features.by_move else b""

    def _taught_bytes(self) -> bytes:
        return self.taught.data if self.taught else b""

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
        """The content of the file."""
        header = json.dumps(
            {
                **self._header(),
                "fingerprint": self.fingerprint,
                "parameters": dict(self.parameters),
                "provenance": dict(self.provenance),
            }
        ).encode()
        others = [self._weight_bytes(), self._body(), *([self.taught.data] if self.taught else [])]
        parts = header, *(zlib.compress(part, 9) for part in others)
        lengths = (struct.pack("<I", len(part)) for part in parts)
        data = _MAGIC + b"".join(chain.from_iterable(zip(lengths, parts, strict=True)))
        return data + blake2b(data, digest_size=_CHECKSUM).digest()

    def save(self, path: str) -> None:
        place, name = Location.of_file(path)
        place.write(name, self.to_bytes())

    @classmethod
    def load(cls, path: str) -> Model:
        """Read a model file; a damaged one is refused."""
        if path == BASE and not Path(path).exists():
            path = str(_BUNDLED)
        place, name = Location.of_file(path)
        try:
            data = place.read(name, _MAX_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"there is no model {quoted(path, 200)}") from None
        except IsADirectoryError:
            raise InputError(f"{quoted(path, 200)} is a folder, not a model") from None
        try:
            return cls.from_bytes(data)
        except InputError as error:
            raise InputError(f"{quoted(path, 200)} is not a model: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        if data.startswith(_OLD_MAGIC):
            raise InputError("it is of version 0.1: train it again")
        if not data.startswith(_MAGIC):
            raise InputError("it does not start with the magic line")
        content, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
        if blake2b(content, digest_size=_CHECKSUM).digest() != checksum:
            raise InputError("it is damaged: its checksum does not match")
        try:
            return cls._parsed(content)
        except InputError:
            raise
        except Exception as error:  # a forged file has a right checksum
            raise InputError(f"{type(error).__name__}: {quoted(str(error))}") from None

    @classmethod
    def _parsed(cls, content: bytes) -> Model:
        header_bytes, rest = _part(content[len(_MAGIC) :], _MAX_HEADER)
        weights, rest = _part(rest, len(rest))
        compressed, rest = _part(rest, len(rest))
        header = json.loads(header_bytes)
        if not isinstance(header, dict):
            raise InputError("its header is not a JSON object")
        taught = None
        if "taught" in header:
            taught, rest = _part(rest, len(rest))
        if rest:
            raise InputError("it has extra bytes at its end")
        target: Target = _choice(header, "target", Target)
        features = FeatureSet(
            _choice(header, "features", Features),
            Board.parse(header["board"], header["connect"]),
            _choice(header, "perspective", Perspective),
            target,
        )
        if header["features_version"] != features.version:
            raise InputError(
                f"its features are of version {header['features_version']}, those here of "
                f"{features.version}"
            )
        classes = 2 if features.by_move else features.board.columns
        if header["classes"] != classes:
            raise InputError("its target and its classes do not go together")
        return cls(
            _tree_of(header, compressed, features, classes),
            replace(features, weights=_weights_of(weights, features)),
            target,
            _choice(header, "mirror", Mirror),
            dict(header["parameters"]),
            dict(header["provenance"]),
            None if taught is None else _taught_of(header, taught, features.board),
        )


def ready_to_write(path: str) -> None:
    """Refuse before training where no model can be written."""
    place, name = Location.of_file(path)
    if place.folder is not None and (place.folder / name).is_dir():
        raise InputError(f"{quoted(path, 200)} is a folder: a model is a file")
    place.check_writable()


def _part(data: bytes, most: int) -> tuple[bytes, bytes]:
    """A part that begins with its length, and the rest."""
    if len(data) < 4:
        raise InputError("it is cut off")
    (length,) = struct.unpack("<I", data[:4])
    if length > most or length > len(data) - 4:
        raise InputError("it is cut off, or its lengths are wrong")
    return data[4 : 4 + length], data[4 + length :]


def _choice(header: Mapping[str, Any], name: str, choices: Any) -> Any:
    known = get_args(choices)
    if header[name] not in known:
        raise InputError(f"{name} is one of {', '.join(known)}, not {quoted(str(header[name]))}")
    return header[name]


def _smoothing_of(header: Mapping[str, Any]) -> float:
    smoothing = header.get("smoothing", 0.0)
    if type(smoothing) is not float or not 0 <= smoothing <= MAX_SMOOTHING:
        raise InputError(f"its smoothing is a number from 0 to {MAX_SMOOTHING:,.0f}")
    return smoothing


def _unpacked(compressed: bytes, size: int, otherwise: str) -> bytes:
    """What has this size; a file that claims more is refused unread."""
    unpack = zlib.decompressobj()
    data = unpack.decompress(compressed, size + 1)
    if len(data) != size or not unpack.eof:
        raise InputError(otherwise)
    return data


def _taught_of(header: Mapping[str, Any], compressed: bytes, board: Board) -> TaughtMoves:
    count = header["taught"]
    if type(count) is not int or not 0 < count <= _MAX_TAUGHT:
        raise InputError(f"its taught moves are a number from 1 to {_MAX_TAUGHT:,}")
    data = _unpacked(compressed, TaughtMoves.size(count), "taught moves are not as many as it says")
    return TaughtMoves.from_bytes(data, board)


def _weights_of(compressed: bytes, features: FeatureSet) -> Weights | None:
    size = Weights.size(features.board, features.weighed) if features.by_move else 0
    data = _unpacked(compressed, size, "its weights are not as many as its features")
    return Weights.from_bytes(data, features.board, features.weighed) if size else None


def _tree_of(
    header: Mapping[str, Any], compressed: bytes, features: FeatureSet, classes: int
) -> Tree:
    """The tree of the nodes in a file; refused unless they are one."""
    split: Split = _choice(header, "split", Split)
    nodes, leaves = int(header["nodes"]), int(header["leaves"])
    if not (1 <= leaves <= nodes <= _MAX_NODES and nodes * classes <= _MAX_COUNTS):
        raise InputError("the number of its nodes is out of range")
    kind = _WIDE if header.get("counts", _NARROW) == _WIDE else _NARROW
    size = nodes * 4 + leaves * classes * int(kind[-1])
    body = _unpacked(compressed, size, "its nodes are not as many as it says")
    feature = np.frombuffer(body, "<i2", nodes).astype(np.int32)
    value = np.frombuffer(body, "<u2", nodes, 2 * nodes).astype(np.int32)
    of_leaves = np.frombuffer(body, kind, leaves * classes, 4 * nodes).reshape(leaves, classes)
    widths = features.widths
    is_leaf = feature == LEAF
    if is_leaf.sum() != leaves or feature.min() < LEAF or feature.max() >= len(widths):
        raise InputError("a node tests an unknown feature")
    tested = np.maximum(feature, 0)
    if (value >= np.where(is_leaf, 1 << 16, widths[tested])).any():
        raise InputError("a threshold is out of range")
    sides = np.where(is_leaf, 0, widths[tested] if split == "multiway" else 2)
    ends = 1 + np.cumsum(sides)
    if ends[-1] != nodes or (ends - sides <= np.arange(nodes))[~is_leaf].any():
        raise InputError("its nodes are not a tree")
    counts = np.zeros((nodes, classes), np.int64)
    counts[is_leaf] = of_leaves
    if of_leaves.min() < 0 or of_leaves.sum(dtype=float) >= 2**62:
        raise InputError("a class count is negative, or more than there can be")
    child = np.where(is_leaf, 0, ends - sides).astype(np.int32)
    summed = _summed(counts, child, sides)
    tree = Tree(split, feature, value, child, summed, _smoothing_of(header))
    if not tree.filled[0] or not tree.filled[tree.parent].all():
        raise InputError("its root has no rows")
    return tree


@kernel
def _summed(counts: Array, child: Array, sides: Array) -> Array:
    """The class counts of all nodes, from those of the leaves: children come after parents."""
    for node in range(len(counts) - 1, -1, -1):
        for side in range(sides[node]):
            for k in range(counts.shape[1]):
                counts[node, k] += counts[child[node] + side, k]
    return counts


@kernel
def _walk_all(
    board: Board, mask: Array, codes: Array, tree: Nodes, shares: Array, scores: Array,
    nodes: Array,
) -> None:  # fmt: skip
    by_move = codes.shape[1] > 1
    for row in range(len(mask)):
        node = 0 if by_move else walk_down(codes[row, 0], tree)
        for column in range(board.columns):
            top = np.uint64(column * board.stride + board.rows - 1)
            if (mask[row] >> top) & np.uint64(1):
                scores[row, column], nodes[row, column] = -1.0, LEAF
                continue
            if by_move:
                node = walk_down(codes[row, column], tree)
            scores[row, column] = shares[node, 1 if by_move else column]
            nodes[row, column] = node
