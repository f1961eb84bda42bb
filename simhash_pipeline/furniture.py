"""What the pages of a template repeat: menus, boxes and footers, learnt while pages are kept.

A host's pages come from a few templates, and pages of one template have structure fingerprints
within 8 bits. A block that stands on half of the last pages of a template, and on eight at least,
is its *furniture*. What other pages repeat says nothing, so that only who can write on half of the
pages of a template can make a text furniture. Newer pages take the place of older ones: what is no
longer repeated is no longer furniture.

Furniture is left out where two pages are compared by their own texts, see own_text.py. Fingerprints
never depend on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from simhash_pipeline.bits import MAX_DISTANCE_BITS
from simhash_pipeline.errors import StoreDamaged
from simhash_pipeline.page.simhash import hamming_distance
from simhash_pipeline.page.visible import BLOCK_BITS

Blocks = NDArray[np.uint16]  # the low 15 bits of their hashes: distinct, rising
Host = tuple[str, str]  # namespace, host
NO_BLOCKS: Blocks = np.empty(0, np.uint16)

LEAST_PAGES = 8  # with 4, more pages have no own text left
_REMEMBERED = 32  # pages of a template
_EVERY = 4  # pages after which a template's furniture is counted anew
_MAX_TEMPLATES = 16  # of a host: those met last
_MAX_HOSTS = 2_048  # whose pages are remembered: some 7 KB a template of 100 blocks a page

# As bytes: 16 of the structure fingerprint, or all 255 without one; 2, the number of blocks; 2 for
# each block. Lowest byte first.
_STRUCTURE_BYTES = 16
_HEAD_BYTES = _STRUCTURE_BYTES + 2
_NO_STRUCTURE = b"\xff" * _STRUCTURE_BYTES


@dataclass(frozen=True, slots=True)
class Template:
    """Pages of one host whose structures are near, and what they repeat."""

    structure: int | None  # fingerprint of the first page; None: too few elements for one
    furniture: Blocks

    def fits(self, structure: int | None) -> bool:
        """Whether a page with this structure fingerprint is of the template."""
        if self.structure is None or structure is None:
            return self.structure is structure
        return hamming_distance(self.structure, structure) <= MAX_DISTANCE_BITS


def furniture_of(structure: int | None, templates: bytes) -> Blocks:
    """What a page with this structure fingerprint shares with its template."""
    fitting = (one.furniture for one in unpacked(templates) if one.fits(structure))
    return next(fitting, NO_BLOCKS)


def unpacked(templates: bytes) -> Iterator[Template]:
    """The templates of a host; StoreDamaged if the bytes are none."""
    at = 0
    while at < len(templates):
        head = templates[at : at + _HEAD_BYTES]
        start = at + _HEAD_BYTES
        at = start + 2 * int.from_bytes(head[_STRUCTURE_BYTES:], "little")
        if at > len(templates) or len(head) < _HEAD_BYTES:
            raise StoreDamaged(
                "the furniture in the store is damaged; restore a copy of the store, or move it "
                "away to begin anew"
            )
        structure = head[:_STRUCTURE_BYTES]
        yield Template(
            None if structure == _NO_STRUCTURE else int.from_bytes(structure, "little"),
            np.frombuffer(templates[start:at], "<u2"),
        )


def with_template(templates: bytes, newest: Template) -> bytes:
    """The templates of a host after one of them was counted anew."""
    others = [one for one in unpacked(templates) if not one.fits(newest.structure)]
    return b"".join(_packed(one) for one in [newest, *others[: _MAX_TEMPLATES - 1]])


def _packed(template: Template) -> bytes:
    structure = _NO_STRUCTURE
    if template.structure is not None:
        structure = template.structure.to_bytes(_STRUCTURE_BYTES, "little")
    count = len(template.furniture).to_bytes(2, "little")
    return structure + count + template.furniture.astype("<u2").tobytes()


class RecentPages:
    """The last kept pages of each host's templates, in bounded memory.

    They end with the process; the store keeps the furniture that was learnt from them.
    """

    def __init__(self, max_hosts: int = _MAX_HOSTS) -> None:
        self._hosts: dict[Host, list[_Pages]] = {}  # newest last
        self._max_hosts = max_hosts
        self._lock = Lock()

    def add(self, host: Host, structure: int | None, blocks: Iterable[int]) -> Template | None:
        """Add a kept page by its blocks' hashes; its template, if that was counted anew."""
        with self._lock:
            templates = self._hosts.pop(host, [])
            if len(self._hosts) == self._max_hosts:
                del self._hosts[next(iter(self._hosts))]
            fitting = (one for one in templates if one.template.fits(structure))
            pages = next(fitting, None) or _Pages(Template(structure, NO_BLOCKS))
            others = [one for one in templates if one is not pages]
            self._hosts[host] = [pages, *others[: _MAX_TEMPLATES - 1]]
            return pages.add(
                np.unique(np.fromiter(blocks, np.uint32).astype(np.uint16) & BLOCK_BITS)
            )


class _Pages:
    """The last pages of a template."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self._blocks: deque[Blocks] = deque(maxlen=_REMEMBERED)
        self._added = 0

    def add(self, blocks: Blocks) -> Template | None:
        self._blocks.append(blocks)
        self._added += 1
        if self._added < LEAST_PAGES or self._added % _EVERY:
            return None
        found, pages = np.unique(np.concatenate(self._blocks), return_counts=True)
        furniture = found[pages >= max(LEAST_PAGES, len(self._blocks) / 2)]
        self.template = Template(self.template.structure, furniture)
        return self.template
