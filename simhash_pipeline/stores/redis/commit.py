"""What the Redis server runs: a page's commit, and what it is decided by.

Keys and values are KEYS and ARGV, never text of a script. All keys of a call are of one namespace,
so of one slot of a Cluster. All may be run twice: a reply can get lost, and then nobody knows.
"""

import hashlib
import secrets
import time
from collections.abc import Mapping, Sequence
from itertools import chain

from simhash_pipeline.stores.contract import StoredPage, packed_page, page_id
from simhash_pipeline.stores.redis import layout
from simhash_pipeline.stores.redis.layout import Record, Space

Argument = bytes | str | int
Command = tuple[Argument, ...]

_LIBRARY = f"""
local call, sub, NUMBER, REF = redis.call, string.sub, {layout.NUMBER_SIZE}, {layout.REF_SIZE}
local function row(bucket, rest, size)
  local at = string.find(bucket, rest, 1, true)
  while at and (at - 1) % size ~= 0 do at = string.find(bucket, rest, at + 1, true) end
  return at
end
local function age(ref) return (struct.unpack('>I8', '\\0' .. ref)) end
"""


class Script:
    """A script; calling it makes the command that runs it."""

    def __init__(self, body: str) -> None:
        self.text = (_LIBRARY + body).encode()
        self._digest = hashlib.sha1(self.text, usedforsecurity=False).hexdigest()

    def __call__(self, keys: Sequence[bytes], *arguments: Argument) -> Command:
        return ("EVALSHA", self._digest, len(keys), *keys, *arguments)


# Checks first, and then the writes: see Commit. -> 1, or 0 when something has changed. A page that
# goes is removed before anything is set, as a server whose memory is full does nothing else first.
COMMIT = Script("""
local at, head, pages, tentative, texts = 0, unpack(KEYS)
local function arg() at = at + 1; return ARGV[at] end
local function key() return KEYS[tonumber(arg())] end
local function set(hash, field, bucket)
  if bucket == '' then call('HDEL', hash, field) else call('HSET', hash, field, bucket) end
end
local function each_place(change)
  local more, value, of_site, blocks = key(), arg(), arg(), tonumber(arg())
  local goes_on = true
  for block = 1, blocks do
    local hash, field, rest = key(), arg(), arg()
    if goes_on then
      local bucket, beside = call('HGET', hash, field) or '', block == 1 and REF or 0
      local found = row(bucket, rest, #rest + beside)
      goes_on = change(hash, field, bucket, rest, found, block == 1, more, value, of_site)
    end
  end
end
local function newest(hash, field)
  if not string.find(hash, ':more:', 1, true) then return call('HGET', hash, field) or '' end
  local first, last = '[' .. field, '(' .. field .. '\\255'
  return call('ZREVRANGEBYLEX', hash, last, first, 'LIMIT', 0, 1)[1] or ''
end

local id, page, run, now, number = arg(), arg(), arg(), arg(), arg()
if page ~= '' and sub(call('HGET', pages, id) or '', NUMBER + 1) == page then return 1 end
local last = call('HGET', head, 'number') or ''
for _ = 1, arg() do
  local hash, field, text = key(), arg(), arg()
  if (call('HGET', hash, field) or '') ~= text then return 0 end
end
for _ = 1, arg() do
  local hash, field, text = key(), arg(), arg()
  if last ~= number and newest(hash, field) ~= text then return 0 end
end

for _ = 1, arg() do
  local ref, values = arg(), arg()
  local gone = sub(ref, NUMBER + 1)
  for _, hash in ipairs({pages, tentative, texts}) do call('HDEL', hash, gone) end
  for _ = 1, values do
    each_place(function(hash, field, bucket, rest, found, is_first, more, value, of_site)
      if not found then return true end
      local size, heir = #rest, ''
      if is_first then
        if of_site ~= '' then call('ZREM', more, of_site .. ref) end
        size = #rest + REF
        if sub(bucket, found + #rest, found + size - 1) ~= ref then
          call('ZREM', more, value .. ref)
          return false
        end
        local next = call('ZRANGEBYLEX', more, '[' .. value, '(' .. value .. '\\255', 'LIMIT', 0, 1)
        if next[1] then
          call('ZREM', more, next[1])
          heir = rest .. sub(next[1], #value + 1)
        end
      end
      set(hash, field, sub(bucket, 1, found - 1) .. heir .. sub(bucket, found + size))
      return heir == ''
    end)
  end
end

if page ~= '' then
  number = tonumber(now)
  if last ~= '' then number = math.max(number, age(last) + 1) end
  number = sub(struct.pack('>I8', number), 2)
  call('HSET', head, 'number', number)
  call('HSET', pages, id, number .. page)
  if run ~= '' then call('HSET', tentative, id, run) end
end
-- While structures are indexed a page that is the first may cease to be.
local all_by_site = call('HGET', head, 'structures') == '0'
for _ = 1, arg() do
  each_place(function(hash, field, bucket, rest, found, is_first, more, value, of_site)
    local ref, by_site = number .. id, all_by_site
    if not found then
      set(hash, field, bucket .. rest .. (is_first and ref or ''))
    elseif is_first then
      local from = found + #rest
      local first, further = sub(bucket, from, from + REF - 1), ref
      if age(ref) < age(first) then  -- of a page that is indexed late
        set(hash, field, sub(bucket, 1, from - 1) .. ref .. sub(bucket, from + REF))
        first, further = ref, first
      end
      if first ~= further then call('ZADD', more, 0, value .. further) end
      by_site = by_site or first ~= further
    end
    if is_first and by_site and of_site ~= '' then call('ZADD', more, 0, of_site .. ref) end
    return not found
  end)
end
return 1
""")
# What is read for a page at first. Head, pages, tentative, then the hashes of its visit and of
# buckets; how many ids, the ids, a field for each of these. -> stamp, number of the newest page,
# whether structures are indexed, record and run of each id, the visit, the buckets.
READ = Script("""
local found = call('HMGET', KEYS[1], 'made_with', 'number', 'structures')
local ids = tonumber(ARGV[1])
for i = 2, ids + 1 do
  for hash = 2, 3 do found[#found + 1] = call('HGET', KEYS[hash], ARGV[i]) end
end
for i = 4, #KEYS do found[#found + 1] = call('HGET', KEYS[i], ARGV[ids + i - 2]) end
return found
""")
# The pages with a value, oldest first. Pages, tentative, the first bucket's hash, further pages;
# field, rest, value, the member to read on from ("[value" at first), how many. -> the bucket, the
# last member and how many were read, then record and run of each page. In the list of its site the
# oldest page may be too.
SHARING = Script("""
local field, rest, value, after, limit = unpack(ARGV)
local bucket = call('HGET', KEYS[3], field) or ''
local further = call('ZRANGEBYLEX', KEYS[4], after, '(' .. value .. '\\255', 'LIMIT', 0, limit)
local refs, found = {}, {bucket, further[#further] or '', #further}
local at = row(bucket, rest, #rest + REF)
if at and after == '[' .. value then refs[1] = sub(bucket, at + #rest, at + #rest + REF - 1) end
for _, member in ipairs(further) do
  local ref = sub(member, #value + 1)
  if ref ~= refs[1] then refs[#refs + 1] = ref end
end
for _, ref in ipairs(refs) do
  local id = sub(ref, NUMBER + 1)
  found[#found + 1] = call('HGET', KEYS[1], id)
  found[#found + 1] = call('HGET', KEYS[2], id)
end
return found
""")
# Tentative; run, then the ids of the pages that it confirms.
CONFIRM = Script("""
for i = 2, #ARGV do
  if call('HGET', KEYS[1], ARGV[i]) == ARGV[1] then call('HDEL', KEYS[1], ARGV[i]) end
end
""")
# A hash; field, the text that must be there ("": none), the text to set -> 1, or 0.
EXCHANGE = Script("""
local found = call('HGET', KEYS[1], ARGV[1]) or ''
if found == ARGV[2] then call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return (found == ARGV[2] or found == ARGV[3]) and 1 or 0
""")
# Texts or visits; cursor, how many to read, a time as layout.py packs it -> the next cursor; older
# ones go. One too short for a time is damaged, and stays.
EXPIRE = Script("""
local found = call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local rows, before = found[2], struct.unpack('>d', ARGV[3])
for i = 1, #rows, 2 do
  local is_whole = #rows[i + 1] >= 8
  if is_whole and struct.unpack('>d', rows[i + 1]) < before then call('HDEL', KEYS[1], rows[i]) end
end
return found[1]
""")
SCRIPTS = (READ, COMMIT, SHARING, CONFIRM, EXCHANGE, EXPIRE)


class Commit:
    """What must be as it was read, and what is written then: all of it or nothing."""

    def __init__(self, space: Space) -> None:
        self._space = space
        fixed = (space.head, space.pages, space.tentative, space.texts)
        self._keys = {key: number for number, key in enumerate(fixed, 1)}
        self._checks: dict[tuple[bytes, Argument], bytes] = {}  # texts by hash and field
        # Rows of arguments.
        self._read: list[Sequence[Argument]] = []
        self._removals: dict[bytes, Sequence[Argument]] = {}
        self._kept: tuple[Argument, ...] = (b"", b"", b"", 0)
        self._number = b""
        self._entries: list[Argument] = [0]

    def expect(self, key: bytes, field: Argument, text: bytes) -> None:
        """Check that a field of a hash has this text; b"" when there was none."""
        self._checks[key, field] = text

    def expect_page(self, known: bytes, record: Record | None) -> None:
        """Check that the page of this id is as it was read."""
        self.expect(self._space.pages, known, b"" if record is None else record.raw)
        self.expect(self._space.tentative, known, b"" if record is None else record.run)

    def expect_as_read(self, number: bytes, texts: Mapping[tuple[bytes, bytes], bytes]) -> None:
        """Check the texts of buckets, by hash and field, and the newest further pages of values.

        Only if another page than that of the number is the newest one by now.
        """
        self._number = number
        self._read = [(self._key(key), name, text) for (key, name), text in texts.items()]

    def remove(self, record: Record) -> "Commit":
        """Remove a page that is as it was read, its values and its text."""
        self.expect_page(record.id, record)
        self._removals[record.ref] = record.ref, *self._placed(record.page, layout.INDEXED)
        return self

    def keep(self, page: StoredPage, own: Record | None, run: bytes, structures: bytes) -> "Commit":
        """Store a page as the newest, in place of `own`; tentative for `run` unless that is b"".

        `structures` is whether they are indexed, as it was read.
        """
        if own is not None:
            self.remove(own)
        self.expect(self._space.head, layout.STRUCTURES, structures)
        packed = secrets.token_bytes(layout.SALT_SIZE) + packed_page(page)
        self._kept = (page_id(page.url), packed, run, time.time_ns() // 1_000)
        self._entries = self._placed(page, layout.INDEXED if structures else layout.ALWAYS_INDEXED)
        return self

    def index(self, record: Record, column: str) -> "Commit":
        """Have a stored page that is as it was read found by this column too."""
        self.expect(self._space.pages, record.id, record.raw)
        self._kept, self._number = (record.id, b"", b"", 0), record.raw[: layout.NUMBER_SIZE]
        self._entries = self._placed(record.page, [column])
        return self

    def command(self) -> Command:
        checks = [(self._key(key), field, text) for (key, field), text in self._checks.items()]
        parts = (checks, self._read, self._removals.values())
        arguments = [each for rows in parts for each in (len(rows), *chain.from_iterable(rows))]
        return COMMIT(list(self._keys), *self._kept, self._number, *arguments, *self._entries)

    def _placed(self, page: StoredPage, columns: Sequence[str]) -> list[Argument]:
        placed = list(layout.entries(self._space, page, columns))
        found: list[Argument] = [len(placed)]
        for entry in placed:
            found += [self._key(entry.more), entry.value, entry.of_site, len(entry.places)]
            for place in entry.places:
                found += [self._key(place.key), place.field, place.rest]
        return found

    def _key(self, key: bytes) -> int:
        return self._keys.setdefault(key, len(self._keys) + 1)
