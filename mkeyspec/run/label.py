"""Members of a labelled step, for expectations and for numbers that are calculated of them."""

from __future__ import annotations

from mkeyspec.run.evidence import SUCCESS, Due


class Unobserved(LookupError):
    """A live value that is not known: the step was refused before it had one."""


class Label:
    """The result of a labelled step: members known at once, and completions that may still come."""

    __slots__ = ("dues", "members")

    def __init__(self, dues: tuple[Due, ...] = (), **members: int | str) -> None:
        self.dues = list(dues)
        self.members: dict[str, int | str] = dict(members)

    def read(self, member: str) -> int | str:
        if member in self.members:
            return self.members[member]
        arrived = [due.got for due in self.dues if due.got is not None]
        if not arrived:
            if member == "status" and self.dues and all(due.passed and due.succeeded for due in self.dues):
                return SUCCESS  # none of these asked for a completion
            raise Unobserved(member)
        failed = next((c for c in arrived if c.status != SUCCESS), None)
        last = failed or arrived[-1]
        value: int | str | None
        if member == "status":
            return last.status
        if failed is not None and member != "id":
            raise Unobserved(member)  # only these two members of an error completion are defined
        if member == "byte_len":
            value = next((due.got.byte_len for due in reversed(self.dues) if due.got is not None and due.counts), None)
        elif member == "imm":
            value = last.imm
        elif member == "id":
            value = last.wr_id
        elif member == "opcode":
            value = last.opcode
        else:
            raise Unobserved(member)  # the compiler refuses other members
        if value is None:
            raise Unobserved(member)
        return value
