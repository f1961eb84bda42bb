"""What the Redis server runs: Lua scripts that append to buckets, and hand a page's record on.

Each script touches one slot of a Cluster, but for `ENTER` and `REMOVE`: what a single server does
at once, a Cluster does by several of the others. Values, keys and URLs are KEYS and ARGV, never
text of a script. All may be run twice: a reply can get lost, and then nobody knows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

Argument = bytes | str | int
Command = tuple[Argument, ...]

# Places of rows, claims and tickets as layout.py packs them; Lua counts from 1.
_HEAD = "local call, sub = redis.call, string.sub\n"
_LIBRARY = """
local function row(bucket, rest, first, size)
  local at = string.find(bucket, rest, first, true)
  while at and (at - first) % size ~= 0 do at = string.find(bucket, rest, at + 1, true) end
  return at
end

local function without(bucket, at, size) return sub(bucket, 1, at - 1) .. sub(bucket, at + size) end

local function holder(claim) return claim and sub(claim, 2, 13) end

local function claim(pages, claims, tentative, id, text)
  local held = call('HGET', claims, id)
  if held and holder(held) ~= holder(text) then return {held} end
  if not held then call('HSET', claims, id, text) end
  return {'', call('HGET', pages, id) or '', call('HGET', tentative, id) or ''}
end

local function ticket_of(claim) return struct.unpack('>I8', sub(claim, 21, 28)) end

local function with_ticket(claim, ticket)
  return sub(claim, 1, 20) .. struct.pack('>I8', ticket) .. sub(claim, 29)
end

local function enlist(key, more, number, rest, ref, ticket)
  local bucket = call('HGET', key, number) or ''
  local at = row(bucket, rest, 1, #rest + #ref)
  if not at then
    call('HSET', key, number, bucket .. rest .. ref)
  elseif sub(bucket, at + #rest, at + #rest + #ref - 1) ~= ref then
    call('ZADD', more, 'NX', ticket, ref)
  end
end

local function append(key, number, rest)
  local bucket = call('HGET', key, number) or '\\0\\0\\0\\0'
  local count = (struct.unpack('<I4', bucket) + 1) % 4294967296
  if not row(bucket, rest, 5, #rest) then bucket = bucket .. rest end
  call('HSET', key, number, struct.pack('<I4', count) .. sub(bucket, 5))
end

local function put(key, number, rest)
  local bucket = call('HGET', key, number) or '\\0\\0\\0\\0'
  if not row(bucket, rest, 5, #rest) then call('HSET', key, number, bucket .. rest) end
end

local function strike(key, more, number, rest, ref)
  local bucket = call('HGET', key, number) or ''
  local at = row(bucket, rest, 1, #rest + #ref)
  if not at then return 1 end
  if sub(bucket, at + #rest, at + #rest + #ref - 1) ~= ref then
    call('ZREM', more, ref)
    return 0
  end
  local heir = call('ZPOPMIN', more)[1]
  bucket = without(bucket, at, #rest + #ref)
  if heir then bucket = bucket .. rest .. heir end
  if bucket == '' then call('HDEL', key, number) else call('HSET', key, number, bucket) end
  return heir and 0 or 1
end

local function cut(key, number, rest, count)
  local bucket = call('HGET', key, number)
  if not bucket or (count and sub(bucket, 1, 4) ~= count) then return end
  local at = row(bucket, rest, 5, #rest)
  if at then call('HSET', key, number, without(bucket, at, #rest)) end
end

local function release(claims, id, text)
  if holder(call('HGET', claims, id)) == holder(text) then call('HDEL', claims, id) end
end
"""
_FUNCTIONS = _LIBRARY.strip().split("\n\n")


def _needed(body: str) -> list[str]:
    """The functions that a body calls, and those that they call, which stand before them."""
    found: list[str] = []
    for function in reversed(_FUNCTIONS):
        name = function.removeprefix("local function ").partition("(")[0]
        if any(re.search(rf"\b{name}\(", text) for text in (body, *found)):
            found.insert(0, f"{function}\n")
    return found


@dataclass(frozen=True, slots=True)
class Script:
    """A script of a body and what it calls of the library; more would cost at each run."""

    body: str
    text: bytes = field(init=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        text = "".join([_HEAD, *_needed(self.body), self.body]).encode()
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "digest", hashlib.sha1(text, usedforsecurity=False).hexdigest())

    def __call__(self, keys: Iterable[Argument], *arguments: Argument) -> Command:
        """The command that runs it."""
        keys = tuple(keys)
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)


# A page's first three hashes, and for ENTER the ticket counter; id, claim -> held claim, or "" and
# what is stored: record, run that has not confirmed it.
CLAIM = Script("return claim(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2])")
# Claims; id, head of the claim, ticket -> the ticket that others see from now on, 0 when the claim
# is lost.
SHOW = Script("""
local held = call('HGET', KEYS[1], ARGV[1])
if holder(held) ~= holder(ARGV[2]) then return 0 end
if ticket_of(held) == 0 then
  held = with_ticket(held, tonumber(ARGV[3]))
  call('HSET', KEYS[1], ARGV[1], held)
end
return ticket_of(held)
""")
# First bucket's hash and the further pages of the value; number, rest, ref.
ENLIST = Script("enlist(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], 0)")
# Hash of a bucket; number, rest.
APPEND = Script("append(KEYS[1], ARGV[1], ARGV[2])")
# Claim, take a ticket, enlist and append: id, claim, ref, how many to enlist; then as above. Nobody
# comes in between here, so appends need not be counted. -> as CLAIM, and the ticket.
ENTER = Script("""
local id, ticket = ARGV[1], call('INCR', KEYS[4])
if call('HSETNX', KEYS[2], id, with_ticket(ARGV[2], ticket)) == 0 then
  local held = call('HGET', KEYS[2], id)
  if holder(held) ~= holder(ARGV[2]) then return {held} end
  ticket = ticket_of(held)
end
local k, a = 5, 5
for _ = 1, tonumber(ARGV[4]) do
  enlist(KEYS[k], KEYS[k + 1], ARGV[a], ARGV[a + 1], ARGV[3], ticket)
  k, a = k + 2, a + 2
end
while k <= #KEYS do
  put(KEYS[k], ARGV[a], ARGV[a + 1])
  k, a = k + 1, a + 2
end
local page = call('HGET', KEYS[1], id)
return {'', page or '', page and call('HGET', KEYS[3], id) or '', ticket}
""")
# A page's hashes; id, head of the claim, what to do with the record ("set", "renew", "delete",
# "leave"), the record, the claim to be left behind ("": none), the run that is to confirm it ("":
# confirmed) -> 1, or 0 when the claim is lost: its lease ran out, and somebody cleaned up.
FINISH = Script("""
local id, action, record, left, run = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local held = call('HGET', KEYS[2], id)
if holder(held) ~= holder(ARGV[2]) then
  if action ~= 'set' or call('HGET', KEYS[1], id) ~= record then return 0 end
  if run == '' then call('HDEL', KEYS[3], id) end
  return 1
end
if sub(held, 1, 1) ~= sub(ARGV[2], 1, 1) then return 1 end
local was = action == 'delete' and call('HDEL', KEYS[1], id) == 1
if action == 'set' or action == 'renew' then was = call('HSET', KEYS[1], id, record) == 0 end
if was and action ~= 'renew' then
  call('HDEL', KEYS[3], id)
  call('HDEL', KEYS[4], id)
end
if run ~= '' then call('HSET', KEYS[3], id, run) end
if left == '' then call('HDEL', KEYS[2], id) else call('HSET', KEYS[2], id, left) end
return 1
""")
# A page's first three hashes; id -> record, claim and run, all of one moment.
STATE = Script("""
local id = ARGV[1]
return {call('HGET', KEYS[1], id), call('HGET', KEYS[2], id), call('HGET', KEYS[3], id)}
""")
# A page's hashes; id, the record it must have, the claim that takes it over, the run it must have
# ("*": any) and what that becomes, so that it can't confirm the page, also where that is claimed.
# -> 1, or 0 when the page has changed or is claimed.
EVICT = Script("""
local id, held = ARGV[1], call('HGET', KEYS[2], ARGV[1])
if holder(held) == holder(ARGV[3]) then return 1 end
if call('HGET', KEYS[1], id) ~= ARGV[2] then return 0 end
if ARGV[4] ~= '*' then
  if call('HGET', KEYS[3], id) ~= ARGV[4] then return 0 end
  call('HSET', KEYS[3], id, ARGV[5])
end
if held then return 0 end
call('HDEL', KEYS[1], id)
call('HDEL', KEYS[3], id)
call('HDEL', KEYS[4], id)
call('HSET', KEYS[2], id, ARGV[3])
return 1
""")
# Claims; id, the claim that must be there, the one that takes it over -> 1, or 0.
TAKE = Script("""
local held = call('HGET', KEYS[1], ARGV[1])
if held == ARGV[2] then call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return (held == ARGV[2] or held == ARGV[3]) and 1 or 0
""")
# First bucket's hash and further pages; number, rest, ref -> 1 when no page has the value.
STRIKE = Script("return strike(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])")
# Hash of a bucket; number -> its count of appends.
COUNT = Script("return sub(call('HGET', KEYS[1], ARGV[1]) or '', 1, 4)")
# Hash of a bucket; number, rest, the count it must have.
CUT = Script("cut(KEYS[1], ARGV[1], ARGV[2], ARGV[3])")
# Claims; id, head of the claim.
RELEASE = Script("release(KEYS[1], ARGV[1], ARGV[2])")
# Strike, cut where no page is left, and release. Claims, then for each value the first bucket's
# hash, further pages and the other hashes; id, head of the claim, then for each value its ref, the
# number of its hashes, and number and rest for each.
REMOVE = Script("""
if holder(call('HGET', KEYS[1], ARGV[1])) ~= holder(ARGV[2]) then return end
local k, a = 2, 3
while k <= #KEYS do
  local ref, hashes = ARGV[a], tonumber(ARGV[a + 1])
  local gone = strike(KEYS[k], KEYS[k + 1], ARGV[a + 2], ARGV[a + 3], ref) == 1
  for i = 1, hashes - 1 do
    if gone then cut(KEYS[k + 1 + i], ARGV[a + 2 + 2 * i], ARGV[a + 3 + 2 * i]) end
  end
  k, a = k + 1 + hashes, a + 2 + 2 * hashes
end
release(KEYS[1], ARGV[1], ARGV[2])
""")
# First bucket's hash and further pages; number, rest, size of a ref, the ticket to read on from,
# how many -> the ref in the bucket or "", those without a ticket, those with one beside it.
SHARING = Script("""
local bucket = call('HGET', KEYS[1], ARGV[1]) or ''
local at = row(bucket, ARGV[2], 1, #ARGV[2] + ARGV[3])
local first = at and sub(bucket, at + #ARGV[2], at + #ARGV[2] + ARGV[3] - 1) or ''
local new = ARGV[4] == '0' and call('ZRANGEBYSCORE', KEYS[2], 0, 0) or {}
local more = {'WITHSCORES', 'LIMIT', 0, ARGV[5]}
return {first, new, call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[4], '+inf', unpack(more))}
""")
# A page's unconfirmed runs; id, run.
CONFIRM = Script("""
if call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then call('HDEL', KEYS[1], ARGV[1]) end
""")
# Texts; cursor, how many to read, a time as texts.py packs it -> the next cursor; older ones go.
EXPIRE_TEXTS = Script("""
local found = call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local rows, before = found[2], struct.unpack('>d', ARGV[3])
for i = 1, #rows, 2 do
  if struct.unpack('>d', rows[i + 1]) < before then call('HDEL', KEYS[1], rows[i]) end
end
return found[1]
""")

SCRIPTS = (
    CLAIM, SHOW, ENLIST, APPEND, ENTER, FINISH, STATE, EVICT, TAKE,
    STRIKE, COUNT, CUT, RELEASE, REMOVE, SHARING, CONFIRM, EXPIRE_TEXTS,
)  # fmt: skip
