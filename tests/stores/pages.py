"""Pages to store, and the simplest policies to settle them by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_pipeline.stores.contract import (
    COLUMN_BITS,
    COLUMNS,
    Action,
    PageText,
    Store,
    StoredPage,
    View,
)
from tests.stores.dull import DullStore

if TYPE_CHECKING:
    from collections.abc import Callable

FAR = 0xFFFF_FFFF  # 32 bits from 0


def page(
    url: str,
    content: int | None = None,
    structure: int | None = None,
    *,
    namespace: str = "",
    site: str = "example.org",
    sketch: int | None = None,
    digest: bytes | None = None,
    seen_at: float = 1_000.0,
) -> StoredPage:
    return StoredPage(
        url=url,
        namespace=namespace,
        site=site,
        content=content,
        structure=structure,
        sketch=sketch,
        digest=digest,
        first_seen=seen_at,
        seen_at=seen_at,
    )


def spread(number: int) -> int:
    """Values far from each other."""
    return number * 0x9E37_79B9_7F4A_7C15 % (1 << 64)


def full_page() -> StoredPage:
    """A page with a value of its own in every column of StoredPage, each as wide as may be."""
    values: dict[str, Any] = {}
    for number, one in enumerate(COLUMNS, 1):
        kind, width = one.type.removesuffix(" | None"), one.metadata.get("width", number)
        made = {"str": f"{number}é", "int": 2**62 - number, "float": number + 0.5}
        made |= {"bytes": bytes([number]) * width}
        values[one.name] = made[kind]
        if one.name in COLUMN_BITS:
            values[one.name] = 2 ** (8 * width) - number
    return StoredPage(**values)


def always(action: Action) -> Callable[[View], tuple[Action, None]]:
    return lambda view: (action, None)


def keep(store: Store, *pages: StoredPage) -> None:
    for each in pages:
        store.settle(each, always(Action.KEEP))


def unless_near(view: View) -> tuple[Action, str | None]:
    """Keep the page unless its content is near a stored page's, whose URL is the answer."""
    twin = next(view.near("content", 3), None)
    return (Action.KEEP, None) if twin is None else (Action.SKIP, twin[0].url)


def seen(
    store: Store | DullStore, asking: StoredPage, distance: int = 3
) -> dict[str, list[tuple[str, int]]]:
    """Everything a view finds for a page, as URLs and distances; stores nothing."""

    def look(view: View) -> tuple[Action, dict[str, list[tuple[str, int]]]]:
        same = view.same_key()
        return Action.SKIP, {
            "same key": [] if same is None else [(same.url, int(same.seen_at))],
            "content": [(found.url, bits) for found, bits in view.near("content", distance)],
            "structure": [(found.url, bits) for found, bits in view.near("structure", distance)],
            "digest": [(found.url, 0) for found in view.same("digest")],
        }

    return store.settle(asking, look)


def like_dull(reopened: Callable[[], Store], changes: list[tuple[object, int, int, str]]) -> Store:
    """The store after a history of changes, each of which a DullStore went through too."""
    dull, clever = DullStore(), reopened()
    for now, (change, name, value, namespace) in enumerate(changes):
        asking = page(
            str(name),
            (1 << value) - 1 if value else None,
            value // 3,
            digest=bytes([value % 2]) * 8,
            namespace=namespace,
            seen_at=float(now),
        )
        if change == "reopen":
            clever.close()
            clever = reopened()
        elif change == "expire":
            of = namespace or None  # all
            assert clever.expire(now - 10.0, of) == dull.expire(now - 10.0, of)
        elif change == "forget":
            assert clever.forget(namespace, str(name)) == dull.forget(namespace, str(name))
        elif change == "text":
            for store in (clever, dull):
                store.keep_texts([PageText(namespace, str(name), "A title", str(value), now)])
        elif isinstance(change, Action):
            clever.settle(asking, always(change))
            dull.settle(asking, always(change))
        assert seen(clever, asking, name) == seen(dull, asking, name)
        assert clever.text_of(namespace, str(name)) == dull.text_of(namespace, str(name))
    assert list(clever.pages()) == list(dull.pages())
    assert set(clever.texts()) == set(dull.texts())
    return clever


def near_content(store: Store, value: int, distance: int = 3) -> list[tuple[str, int]]:
    return seen(store, page("asking", value), distance)["content"]
