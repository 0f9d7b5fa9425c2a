"""Leave to the linker only what it alone can know about an object file.

    python resolve_relocations.py fbg.o UNUSED

`ld -r` keeps a relocation for every call, and a symbol for whatever a relocation names. A distance
within one section is final, however: it is written into the section, and its relocation left out.
Relocations of local symbols name the section instead of the symbol. UNUSED receives the names of
local symbols that no relocation names any more, a line each, for objcopy to remove. Relocations of
weak symbols stay, as the linker may choose the definition of another object. Distances that stay in
code are sorted by what they name, which compresses better than the order of places.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from pathlib import Path

SECTION, SYMBOL, RELOCATION = map(struct.Struct, ("<IIQQQQIIQQ", "<IBBHQQ", "<QIIq"))
SYMBOLS, RELOCATIONS = 2, 4  # types of sections
CODE = 4  # among the flags of a section
LOCAL, WEAK = 0, 2  # bindings of symbols
AREA = 3  # the type of a section's symbol
PLAIN = (0, 1, 2)  # symbols without a type, of objects and of functions


@dataclass(frozen=True)
class Machine:
    """Which of its relocations are distances, and which of these and others name addresses."""

    distances: tuple[int, ...]
    addresses: tuple[int, ...]
    bits: int = 32  # of a distance, the lowest of a word
    unit: int = 1  # bytes
    pairs: tuple[int, ...] = ()  # which the next one must follow


MACHINES = {
    # R_X86_64_PC32 and PLT32; 64, PC32, PLT32, 32, 32S, PC64; TLSGD and TLSLD
    62: Machine((2, 4), (1, 2, 4, 10, 11, 24), pairs=(19, 20)),
    # R_AARCH64_JUMP26 and CALL26; ABS64, PREL32, ADR_PREL_PG_HI21, ADD_ABS_LO12_NC, both, LDST*
    183: Machine((282, 283), (257, 261, 275, 277, 278, 282, 283, 284, 285, 286, 299), 26, 4),
}


class Object:
    """The sections and symbols of an object file, and its bytes."""

    def __init__(self, data: bytearray) -> None:
        self.data = data
        (number,) = struct.unpack_from("<H", data, 18)
        (self.headers,) = struct.unpack_from("<Q", data, 40)
        (count,) = struct.unpack_from("<H", data, 60)
        self.machine = MACHINES[number]
        table = data[self.headers : self.headers + count * SECTION.size]
        self.sections = list(SECTION.iter_unpack(table))
        (symbols,) = (section for section in self.sections if section[1] == SYMBOLS)
        self.symbols = list(SYMBOL.iter_unpack(self._content(symbols)))
        self.names = self._content(self.sections[symbols[6]])
        self.areas = {s[3]: i for i, s in enumerate(self.symbols) if s[1] & 15 == AREA}

    def _content(self, section: tuple[int, ...]) -> bytearray:
        return self.data[section[4] : section[4] + section[5]]

    def resolve(self) -> set[str]:
        """Shorten all relocations; return the local names that none of them uses any more."""
        used: set[int] = set()
        for number, section in enumerate(self.sections):
            if section[1] == RELOCATIONS:
                used |= self._resolve(number)
        names: dict[bool, set[str]] = {False: set(), True: set()}
        for i, (name, info, *_) in enumerate(self.symbols):
            removable = info >> 4 == LOCAL and info & 15 in PLAIN and i not in used
            names[removable].add(self.names[name : self.names.index(0, name)].decode())
        return names[True] - names[False]

    def _resolve(self, number: int) -> set[int]:
        """Shorten one section of relocations; return the symbols that it still uses."""
        _, _, _, _, start, size, _, target, *_ = self.sections[number]
        kept: list[tuple[int, int, int, int]] = []
        for offset, kind, symbol, addend in RELOCATION.iter_unpack(self.data[start : start + size]):
            _, info, _, area, value, _ = self.symbols[symbol]
            plain, binding = info & 15 in PLAIN, info >> 4
            final = area == target and binding != WEAK and (plain or info & 15 == AREA)
            if final and kind in self.machine.distances:
                self._write(self.sections[target][4] + offset, value + addend - offset)
                continue
            if plain and binding == LOCAL and area in self.areas and kind in self.machine.addresses:
                symbol, addend = self.areas[area], addend + value
            kept.append((offset, kind, symbol, addend))
        if self.sections[target][2] & CODE:
            kept = self._ordered(kept)
        packed = b"".join(RELOCATION.pack(*each) for each in kept)
        self.data[start : start + size] = packed.ljust(size, b"\0")
        struct.pack_into("<Q", self.data, self.headers + number * SECTION.size + 32, len(packed))
        return {symbol for _, _, symbol, _ in kept}

    def _ordered(self, kept: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
        """Sort distances by the symbols that they name; all others stay in front, as they are."""
        fixed: list[tuple[int, int, int, int]] = []
        loose: list[tuple[int, int, int, int]] = []
        last = 0
        for each in kept:
            moves = each[1] in self.machine.distances and last not in self.machine.pairs
            (loose if moves else fixed).append(each)
            last = each[1]
        return fixed + sorted(loose, key=lambda each: (each[1:3], each[0]))

    def _write(self, at: int, distance: int) -> None:
        (word,) = struct.unpack_from("<I", self.data, at)
        mask = (1 << self.machine.bits) - 1
        word = word & ~mask | distance // self.machine.unit & mask
        struct.pack_into("<I", self.data, at, word)


def main() -> None:
    path, unused = map(Path, sys.argv[1:])
    data = bytearray(path.read_bytes())
    names = Object(data).resolve()
    path.write_bytes(data)
    unused.write_text("".join(f"{name}\n" for name in sorted(names) if name))


if __name__ == "__main__":
    main()
