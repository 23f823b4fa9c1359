"""Near misses of layouts and of transfers through an mkey: order, offsets, skips, repeats; masks of copied bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mkeyspec.lookslike.hypothesis import Copied, Hypothesis, Rules, Walk
from mkeyspec.lookslike.transfer import copied_columns
from mkeyspec.plan import SetSignature
from mkeyspec.reference.layout import Segment, Strip, interleaved
from mkeyspec.value.layout import Interleaved, Layout
from mkeyspec.value.live import is_known
from mkeyspec.value.signature import Domain

_Any = TypeVar("_Any")
Segments = Callable[[list[Segment]], "list[Segment] | None"]
Strips = Callable[[int, list[Strip]], "list[Segment] | None"]


def _segments(change: Segments) -> Walk:
    """Layouts whose segments are changed, once they are walked. What is said of one entry among others says nothing of
    a layout with one alone: that nothing is moved has a near miss of its own."""

    def walk(layout: Layout) -> list[Segment] | None:
        segments = layout.walk()
        return change(segments) or None if len(segments) > 1 else _alone(change, segments)

    return walk


def _alone(change: Segments, segments: list[Segment]) -> list[Segment] | None:
    """A layout of one entry, which a change may move or cut, but not take away."""
    try:
        changed = change(segments)
    except (IndexError, ValueError):
        return None
    return changed if changed and changed[0][2] > 0 else None


def _of_list(change: Segments) -> Walk:
    def walk(layout: Layout) -> list[Segment] | None:
        return None if layout.strided else change(layout.walk())

    return walk


def _strips(change: Strips) -> Walk:
    """Interleaved layouts, by (repeat, strips)."""

    def walk(layout: Layout) -> list[Segment] | None:
        if not isinstance(layout, Interleaved) or not is_known(layout.repeat):
            return None
        strips: list[Strip] = []
        for chunk in layout.posted():
            start, count, skip = chunk.part.start, chunk.count, chunk.skip
            if not (is_known(start) and is_known(count) and is_known(skip)):
                return None
            strips.append((chunk.part.name, start, count, skip))
        return change(layout.repeat, strips)

    return walk


def _at(distance: Callable[[int, int], int]) -> Strips:
    """Turn r of a strip begins r * distance(count, skip) after its start."""
    return lambda repeat, strips: [
        (name, start + turn * distance(count, skip), count)
        for turn in range(repeat)
        for name, start, count, skip in strips
    ]


def _turned(segments: list[Segment]) -> list[Segment]:
    return segments[::-1]


def _first_two(items: list[_Any]) -> list[_Any]:
    return [*items[1:2], *items[:1], *items[2:]]


def _last_continued(segments: list[Segment]) -> list[Segment]:
    """The last entry is missing, and the one before it goes on."""
    *others, before, last = segments
    return [*others, before, (before[0], before[1] + before[2], last[2])]


def _last_turn(repeat: int, strips: list[Strip]) -> list[Segment]:
    """The last turn goes over the place of the one before."""
    turns = [*range(repeat - 1), max(repeat - 2, 0)]
    return [(name, start + turn * (count + skip), count) for turn in turns for name, start, count, skip in strips]


def _stride_of_first(strips: list[Strip]) -> list[Strip]:
    stride = strips[0][2] + strips[0][3]
    return [(name, start, count, stride - count) for name, start, count, _ in strips]


def _last_is_first(repeat: int, strips: list[Strip]) -> list[Segment]:
    """The place of the last entry is that of the first."""
    *_, (_, _, count, _) = strips
    name, start, first_count, skip = strips[0]
    segments = []
    for turn in range(repeat):
        segments += [(one[0], one[1] + turn * (one[2] + one[3]), one[2]) for one in strips[:-1]]
        segments.append((name, start + turn * (first_count + skip), count))
    return segments


def _in_turn(repeat: int, strips: list[Strip]) -> list[Segment]:
    """Entry by entry, each with all its repeats."""
    return [
        (name, start + turn * (count + skip), count) for name, start, count, skip in strips for turn in range(repeat)
    ]


def _with_strips(change: Callable[[list[Strip]], list[Strip]]) -> Strips:
    return lambda repeat, strips: interleaved(repeat, change(strips))


def _same_name(segments: list[Segment]) -> list[Segment]:
    """Each entry in the memory of the first one."""
    return [(segments[0][0], start, length) for _, start, length in segments]


def _same_key(segments: list[Segment]) -> list[Segment]:
    return [(segments[-1][0], start, length) for _, start, length in segments]


def _by(distance: int) -> str:
    count = abs(distance)
    return f"{count} byte{'s' if count > 1 else ''} too {'late' if distance > 0 else 'early'}"


WALKS: tuple[tuple[str, str, Walk], ...] = (
    ("order", "the entries of the layout are taken in the other order", _segments(_turned)),
    ("first_two", "the first two entries of the layout change places", _segments(_first_two)),
    ("last_continued", "the last entry of the layout is left out, and the one before it goes on", _segments(
        _last_continued)),
    ("four", "entries of the layout after the fourth are taken for the fourth", _segments(
        lambda s: [*s[:4], *((s[3][0], s[3][1], length) for _, _, length in s[4:])])),
    ("first_two_strips", "the first two entries of a repeat change places", _strips(_with_strips(_first_two))),
    ("last_turn", "the last repeat goes over the place of the one before", _strips(_last_turn)),
    ("stride_of_first", "all entries have the stride of the first", _strips(_with_strips(_stride_of_first))),
    ("last_strip_first", "the last entry of a repeat is in the place of the first", _strips(_last_is_first)),
    ("count_12_bits", "only 12 bits of the count are used", _strips(_with_strips(
        lambda strips: [(name, start, count & 0xFFF, skip) for name, start, count, skip in strips]))),
    ("rotated", "the layout begins with its second entry", _segments(lambda s: s[1:] + s[:1])),
    ("last_first", "the layout begins with its last entry", _segments(lambda s: s[-1:] + s[:-1])),
    ("second_missing", "the second entry of the layout is left out", _segments(lambda s: s[:1] + s[2:])),
    ("first_missing", "the first entry of the layout is left out", _segments(lambda s: s[1:])),
    ("last_missing", "the last entry of the layout is left out", _segments(lambda s: s[:-1])),
    ("first_only", "only the first entry of the layout is used", _segments(lambda s: s[:1])),
    ("first_again", "the first entry of the layout is used for all", _segments(lambda s: s[:1] * len(s))),
    ("last_again", "the last entry of the layout is used in place of the one before it", _segments(
        lambda s: [*s[:-2], s[-1], s[-1]])),
    ("first_twice", "the first entry of the layout is used in place of the second, too", _segments(
        lambda s: [s[0], s[0], *s[2:]])),
    ("starts", "the entries of the layout begin at the start of their memories", _segments(
        lambda s: [(name, 0, length) for name, _, length in s])),
    ("first_key", "the entries of the layout are all in the memory of the first one", _segments(_same_name)),
    ("last_key", "the entries of the layout are all in the memory of the last one", _segments(_same_key)),
    *((f"begin_{by:+}", f"each entry of the layout begins {_by(by)}", _segments(
        lambda s, by=by: [(name, start + by, length) for name, start, length in s]))  # type: ignore[misc]
      for by in (-1, 1, 8)),
    ("first_begin+1", "the first entry of the layout begins one byte too late", _segments(
        lambda s: [(s[0][0], s[0][1] + 1, s[0][2]), *s[1:]])),
    ("last_begin+1", "the last entry of the layout begins one byte too late", _segments(
        lambda s: [*s[:-1], (s[-1][0], s[-1][1] + 1, s[-1][2])])),
    ("later_begin+1", "the entries after the first begin one byte too late", _segments(
        lambda s: [s[0], *((name, start + 1, length) for name, start, length in s[1:])])),
    ("length+1", "each entry of the layout has one byte too many", _segments(
        lambda s: [(name, start, length + 1) for name, start, length in s])),
    ("length-1", "each entry of the layout has one byte too few", _segments(
        lambda s: [(name, start, length - 1) for name, start, length in s])),
    ("first_length+1", "the first entry of the layout has one byte too many", _segments(
        lambda s: [(s[0][0], s[0][1], s[0][2] + 1), *s[1:]])),
    ("first_length-1", "the first entry of the layout has one byte too few", _segments(
        lambda s: [(s[0][0], s[0][1], s[0][2] - 1), *s[1:]])),
    *((f"aligned_{size}", f"each entry of the layout begins at a multiple of {size}", _segments(
        lambda s, size=size: [(name, start // size * size, length) for name, start, length in s]))  # type: ignore[misc]
      for size in (4, 8, 16, 64)),
    ("continuous", "an entry goes on where the one before it ended", _of_list(
        lambda s: [(s[0][0], s[0][1] + sum(one[2] for one in s[:i]), length) for i, (_, _, length) in enumerate(s)])),
    ("skip_ignored", "the skip of the interleaved layout is ignored", _strips(_at(lambda count, skip: count))),
    ("skip_twice", "the skip of the interleaved layout counts twice", _strips(
        _at(lambda count, skip: count + 2 * skip))),
    ("skip_only", "a repeat begins only `skip` bytes after the one before", _strips(_at(lambda count, skip: skip))),
    ("skip+1", "a repeat begins one byte too late", _strips(_at(lambda count, skip: count + skip + 1))),
    ("skip-1", "a repeat begins one byte too early", _strips(_at(lambda count, skip: count + skip - 1))),
    ("no_stride", "each repeat begins at the start of its entry again", _strips(_at(lambda count, skip: 0))),
    ("skip_first", "the skip comes before the bytes of a repeat", _strips(
        lambda repeat, strips: [(n, start + turn * (count + skip) + skip, count)
                                for turn in range(repeat) for n, start, count, skip in strips])),
    ("not_in_turn", "an entry takes all its repeats before the next entry", _strips(_in_turn)),
    ("entries_turned", "the entries of a repeat are taken in the other order", _strips(
        _with_strips(lambda strips: strips[::-1]))),
    ("skip_of_first", "the skip of the first entry is used for all", _strips(_with_strips(
        lambda strips: [(name, start, count, strips[0][3]) for name, start, count, _ in strips]))),
    ("skip_of_last", "the skip of the last entry is used for all", _strips(_with_strips(
        lambda strips: [(name, start, count, strips[-1][3]) for name, start, count, _ in strips]))),
    ("count_of_first", "the count of the first entry is used for all", _strips(_with_strips(
        lambda strips: [(name, start, strips[0][2], skip) for name, start, _, skip in strips]))),
    ("one_repeat_less", "the interleaved layout has one repeat too few", _strips(
        lambda repeat, strips: interleaved(repeat - 1, strips))),
    ("one_repeat", "the interleaved layout has one repeat only", _strips(
        lambda repeat, strips: interleaved(1, strips))),
    ("repeats_turned", "the repeats are taken in the other order", _strips(
        lambda repeat, strips: [(name, start + turn * (count + skip), count)
                                for turn in reversed(range(repeat)) for name, start, count, skip in strips])),
)  # fmt: skip


def _by_mask(change: Callable[[list[int], int], list[int]]) -> Copied:
    """Where a copy mask says what passes: other positions, by (positions, bytes of the field)."""

    def copied(columns: list[int], signature: SetSignature, source: Domain, target: Domain) -> list[int]:
        if signature.copy_mask is None:
            raise ValueError("there is no copy mask")
        size = target.signature.field_size
        return [one for one in change(columns, size) if 0 <= one < size]

    return copied


def _by_domains(change: Callable[[list[int], int], list[int]]) -> Copied:
    """Where the domains say what passes."""

    def copied(columns: list[int], signature: SetSignature, source: Domain, target: Domain) -> list[int]:
        if signature.copy_mask is not None:
            raise ValueError("there is a copy mask")
        return change(columns, target.signature.field_size)

    return copied


def _always(change: Callable[[list[int], int], list[int]]) -> Copied:
    return lambda columns, signature, source, target: change(columns, target.signature.field_size)


def _automatic(columns: list[int], signature: SetSignature, source: Domain, target: Domain) -> list[int]:
    return copied_columns(source, target, None)


def _without_flag(columns: list[int], signature: SetSignature, source: Domain, target: Domain) -> list[int]:
    """The mask counts though its flag is not set."""
    mask = dict(signature.but).get("copy_mask", 0)  # a member that is not set
    if not isinstance(mask, int):
        raise ValueError("there is no mask without its flag")
    return copied_columns(source, target, mask)


def _part(first: int, end: int) -> Copied:
    return _by_domains(lambda columns, size: sorted({*columns, *range(first, end)}))


def _but(first: int, end: int) -> Copied:
    return _always(lambda columns, size: [one for one in columns if not first <= one < end])


def _tags_swapped(columns: list[int], size: int) -> list[int]:
    made = [one for one in columns if one < 2]
    return made + ([4, 5, 6, 7] if 2 in columns else []) + ([2, 3] if 4 in columns else [])


def _whole_parts(columns: list[int], size: int) -> list[int]:
    """A part of which a byte is named passes whole."""
    parts = ((0, 2), (2, 4), (4, 8)) if size == 8 else ((0, size),)
    return [one for first, end in parts if set(columns) & set(range(first, end)) for one in range(first, end)]


COPIES: tuple[tuple[str, str, Copied], ...] = (
    ("automatic", "the copy mask is ignored: what the domains have in common is copied", _automatic),
    ("by_mask", "the copy mask counts without its flag", _without_flag),
    ("turned", "the bits of the copy mask are taken in the other order", _by_mask(
        lambda columns, size: [size - 1 - one for one in columns])),
    ("inverted", "the bits of the copy mask mean the opposite", _by_mask(
        lambda columns, size: [one for one in range(size) if one not in columns])),
    ("shifted", "the bits of the copy mask count for the byte before", _by_mask(
        lambda columns, size: [one - 1 for one in columns])),
    ("shifted_up", "the bits of the copy mask count for the byte after", _by_mask(
        lambda columns, size: [one + 1 for one in columns])),
    ("parts", "a part of the field is copied whole where the copy mask names one byte of it", _by_mask(_whole_parts)),
    ("tags_swapped", "equal application tags copy the reference tag, and the reverse", _by_domains(_tags_swapped)),
    ("all_or_nothing", "one part that differs lets all of the field be computed", _by_domains(
        lambda columns, size: columns if len(columns) == size else [])),
    ("guard", "the guard is copied, though its type or seed differs", _part(0, 2)),
    ("app", "the application tag is copied, though it differs", _part(2, 4)),
    ("ref", "the reference tag is copied, though it differs", _part(4, 8)),
    ("all", "the whole field is copied", _always(lambda columns, size: list(range(size)))),
    ("none", "the field is computed anew, and nothing of it is copied", _always(lambda columns, size: [])),
    ("no_guard", "the guard is computed, and not copied", _but(0, 2)),
    ("no_app", "the application tag is made anew, and not copied", _but(2, 4)),
    ("no_ref", "the reference tag is made anew, and not copied", _but(4, 8)),
)  # fmt: skip

TRANSFERS: tuple[Hypothesis, ...] = (
    *(Hypothesis(f"layout.{name}", sentence, Rules(walk=walk)) for name, sentence, walk in WALKS),
    *(Hypothesis(f"copied.{name}", sentence, Rules(copied=copied)) for name, sentence, copied in COPIES),
    *(Hypothesis(f"offset.{by:+}", f"the transfer begins {_by(by)} in the mkey", Rules(start=by))
      for by in (-8, -1, 1, 8, 512)),
    Hypothesis("offset.ignored", "the transfer begins at the start of the mkey, whatever its address", Rules(
        start_ignored=True)),
    *(Hypothesis(f"target.{by:+}", f"the bytes arrive {_by(by)}", Rules(shifted=by)) for by in (-1, 1, 8)),
    Hypothesis("copied.first_block_only", "fields are copied in the first block only", Rules(copied_once=True)),
    Hypothesis("offset.down_64", "the offset in the mkey is rounded down to 64", Rules(aligned=64)),
    Hypothesis("offset.down_8", "the offset in the mkey is rounded down to 8", Rules(aligned=8)),
    Hypothesis("domains.swapped", "the domains of memory and wire are swapped", Rules(
        domains=lambda memory, wire: (wire, memory))),
    Hypothesis("domains.wire_is_memory", "the domain of the wire is that of memory", Rules(
        domains=lambda memory, wire: (memory, memory if memory is not None and wire is not None else wire))),
    Hypothesis("domains.memory_is_wire", "the domain of memory is that of the wire", Rules(
        domains=lambda memory, wire: (wire if memory is not None and wire is not None else memory, wire))),
    Hypothesis("domains.no_memory", "the domain of memory does not count", Rules(
        domains=lambda memory, wire: (None, wire))),
    Hypothesis("domains.no_wire", "the domain of the wire does not count", Rules(
        domains=lambda memory, wire: (memory, None))),
    *(Hypothesis(f"key.old_{part}", f"{what} is the one before the last configuration", Rules(earlier=part))
      for part, what in (
          ("layout", "the layout"), ("signature", "the signature"), ("crypto", "the encryption"),
          ("memory_domain", "the domain of memory"), ("check_mask", "the check mask"), ("configuration", "all of it"))),
    Hypothesis("key.failed_attributes", "the signature and the encryption of a section that failed count", Rules(
        earlier="failed")),
    Hypothesis("key.unsigned", "the mkey has no signature any more", Rules(earlier="none")),
    Hypothesis("crypto.tweak_restarts_at_sges", "the tweak begins anew at each SGE of the work request", Rules(
        by_entry=True)),
    *(Hypothesis(f"field.partial_{name}", f"what is left of the data after the last whole block {sentence}", Rules(
        rest=rest)) for name, sentence, rest in (
            ("zero", "is moved as zeros", lambda data: bytes(len(data))),
            ("lost", "is not moved", lambda data: b""))),
    Hypothesis("moved.earlier", "a transfer is carried out before the one in front of it", Rules(early=True)),
    *(Hypothesis(f"cancel.{which}", sentence, Rules(cancel=which)) for which, sentence in (
        ("none", "a cancelled request is carried out: it is not cancelled, or the queue stops too late"),
        ("first", "of several requests with the number only the first is cancelled"),
        ("all", "what waits is cancelled, whatever its number"))),
    Hypothesis("moved.but_last", "the last byte is not moved", Rules(bytes_lost=1)),
    Hypothesis("moved.half", "only the first half of the bytes is moved", Rules(limit=0.5)),
    Hypothesis("moved.nothing", "nothing is moved", Rules(limit=0.0)),
)  # fmt: skip
