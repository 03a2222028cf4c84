-- The history of a group that shares objects, and what is asked of it: read from the logs of its engines (shards.lua),
-- judged with the writes and the moments at which something befell the group.
--
-- A change waits from its write to the end of a call with this version or a later one, and what it may wait is what
-- ADR 11 states. The time begins when the group is disturbed, and each disturbance begins it anew: to kill a replica is
-- one, to start another one the next; a freeze or a cut is one as it begins and one as it ends. So of each wait its
-- longest part between two such moments is judged; the rest is how long faults lasted, which nobody can shorten.
--
--   failover  until its replica owns the object's slot, if a replica died, froze or was cut off since the group was
--             settled last: two durations of the Lease, three looks and a retry
--   handover  the same if replicas only joined and left: the time in which calls must end, two looks and a retry
--   list      from then on, as the replica lists what it gained and calls its handlers for all that
--   kept      for all of the wait, if the object's replica keeps it: it waits for nothing that befalls others
local bit = require "bit"

local history = {}
history.__index = history

-- The bounds of ADR 11, in seconds (shard_times_failover_ms and shard_times_handover_ms), for a Lease of so many.
function history.failover(lease) return lease * (2 + 3 * 2 / 15 + 1 / 15) end
function history.handover(lease) return lease * (10 / 15 + 2 * 2 / 15 + 1 / 15) end

-- The slot of an object, of 4,096: the upper bits of FNV-1a 64 of its uid (contract A-7).
function history.slot(uid)
  local sum = 0xcbf29ce484222325ULL
  for i = 1, #uid do sum = bit.bxor(sum, uid:byte(i) + 0ULL) * 0x100000001b3ULL end
  return tonumber(bit.rshift(sum, 52))
end

-- A text for each slot, by slot.
function history.texts()
  local texts, count, n = {}, 0, 0
  while count < 4096 do
    local slot = history.slot(tostring(n))
    if not texts[slot] then texts[slot], count = tostring(n), count + 1 end
    n = n + 1
  end
  return texts
end

function history.new()
  return setmetatable({ objects = {}, shares = {}, calls = 0, lost = 0, cancelled = 0 }, history)
end

local function note(self, name, event)
  self.objects[name] = self.objects[name] or {}
  table.insert(self.objects[name], event)
  return event
end

-- Takes the log of a member: a call is "b TIME NAME VERSION" and "e" alike when it ends, which one that was cancelled
-- does not; "l" tells of the loss of an object, "s TIME SLOTS" which ones the member owns from then on ("0-1,7").
function history:read(member, log)
  local open = {}
  for line in log:gmatch "([^\n]*)\n" do -- the last one may be half written
    local what, at, name, version = line:match "^([bel]) ([%d.]+) (%S+) (%S+)$"
    if what == "b" then
      open[name .. version] = note(self, name, { at = tonumber(at), member = member, version = tonumber(version) })
      self.calls, self.cancelled = self.calls + 1, self.cancelled + 1
    elseif what == "e" then
      local call = assert(open[name .. version], "an end without a beginning: " .. line)
      if not call.over then self.cancelled = self.cancelled - 1 end
      call.over = tonumber(at)
    elseif what == "l" then
      note(self, name, { at = tonumber(at), member = member, is_loss = true })
      self.lost = self.lost + 1
    elseif line:find "^[?d] " then
      error("an object that was lost without a mark, or deleted by nobody: " .. line)
    elseif line:find "^s " then
      local since, slots = line:match "^s ([%d.]+) (%S*)$"
      table.insert(self.shares, { at = tonumber(since), member = member, slots = slots })
    end
  end
end

-- Sorts what was read, once all logs are.
function history:sort()
  for _, events in pairs(self.objects) do
    table.sort(events, function(a, b) return a.at < b.at end)
  end
end

-- --- owners

-- No call of one replica may begin while another one's of the same object is under way; who had an object may have it
-- again only after a change of the members.
function history:check_owners(changes)
  for name, events in pairs(self.objects) do
    local turns, last = 1, nil
    for _, call in ipairs(events) do
      if not call.is_loss then
        if last and call.member ~= last.member then
          turns = turns + 1
          assert(not last.over or last.over <= call.at, ("%s: %d began at %.6f, %d ended at %.6f"):format(name,
            call.member, call.at, last.member, last.over or 0))
        end
        last = call
      end
    end
    assert(turns <= 2 * changes + 1, ("%s had %d owners one after another, in %d changes"):format(name, turns, changes))
  end
end

-- --- waits

local function has(slots, slot)
  for first, last in slots:gmatch "(%d+)%-?(%d*)" do
    if slot >= tonumber(first) and slot <= (tonumber(last) or tonumber(first)) then return true end
  end
  return false
end

-- Since when the member of a call had the slot, as far as its log tells.
local function owned_since(self, call, slot)
  local since
  for _, share in ipairs(self.shares) do
    if share.member == call.member and share.at <= call.at then
      since = has(share.slots, slot) and (since or share.at) or nil
    end
  end
  return since or call.at
end

-- The call that ended first with what was written, or with something later.
local function handling(self, write)
  local first
  for _, call in ipairs(self.objects[write.name] or {}) do
    if call.over and call.version >= write.version and (not first or call.over < first.over) then first = call end
  end
  return first
end

-- A write that nobody has handled; nil: there is none.
function history:unhandled(writes)
  for _, write in ipairs(writes) do
    if not handling(self, write) then return write end
  end
end

-- The longest part of the time between two moments, and after which of them; nil: it began with the time.
local function longest_part(from, to, moments)
  local longest, after, last, last_moment = 0, nil, from, nil
  local function look(at)
    if at - last > longest then longest, after = at - last, last_moment end
  end
  for _, moment in ipairs(moments) do
    if moment.what ~= "settled" and moment.at > from and moment.at < to then
      look(moment.at)
      last, last_moment = moment.at, moment
    end
  end
  look(to)
  return longest, after
end

local FAILURES = { kill = true, freeze = true, cut = true, hold = true }

-- The misfortunes of the group between the time when it was settled before `from` and `to`: whether a replica failed,
-- and whether something befell this member (or the group was not settled yet).
local function what_befell(member, from, to, moments)
  local failed, hit = false, true
  for _, moment in ipairs(moments) do
    if moment.what == "settled" and moment.at <= from then
      failed, hit = false, false
    elseif moment.at < to then
      failed = failed or FAILURES[moment.what] ~= nil
      hit = hit or moment.member == member
    end
  end
  return failed, hit
end

-- Whether the member of this call had the object when it was written, and kept it.
local function keeps(self, write, call)
  local last
  for _, event in ipairs(self.objects[write.name]) do
    if event.at <= write.at then
      last = event
    elseif event.is_loss and event.member == call.member and event.at <= call.over then
      return false
    end
  end
  return last ~= nil and not last.is_loss and last.member == call.member
end

-- The events of the group and the object since shortly before the write, as lines.
local function story(self, write, over, moments)
  local lines = {}
  local function add(at, text, ...)
    if at < write.at - 30 or at > over then return end
    lines[#lines + 1] = { at = at, text = ("  %+9.3f s "):format(at - write.at) .. text:format(...) }
  end
  add(write.at, "version %.0f is written", write.version)
  for _, moment in ipairs(moments) do
    add(moment.at, moment.member and "%s of %d" or "%s", moment.what, moment.member)
  end
  for _, event in ipairs(self.objects[write.name]) do
    add(event.at, event.is_loss and "%d loses it" or "%d is called for version %.0f", event.member, event.version)
    if event.over then add(event.over, "%d has handled version %.0f", event.member, event.version) end
  end
  local slot, owns = history.slot(write.uid), {}
  for _, share in ipairs(self.shares) do
    local now = has(share.slots, slot)
    if now ~= owns[share.member] then
      add(share.at, now and "%d owns its slot" or "%d does not own its slot", share.member)
    end
    owns[share.member] = now
  end
  table.sort(lines, function(a, b) return a.at < b.at end)
  for i, line in ipairs(lines) do lines[i] = line.text end
  return table.concat(lines, "\n")
end

-- The judged parts of the wait of a write, by what they may be: { seconds, the moment before it }.
local function parts_of(self, write, call, moments)
  local failed, hit = what_befell(call.member, write.at, call.over, moments)
  if not hit and keeps(self, write, call) then return { kept = { call.over - write.at } } end
  local owned = math.max(owned_since(self, call, history.slot(write.uid)), write.at)
  return { [failed and "failover" or "handover"] = { longest_part(write.at, owned, moments) },
    list = { longest_part(owned, call.over, moments) } }
end

local MEANS = {
  failover = "for an owner of its slot",
  handover = "for the next owner of its slot",
  list = "for the list and the calls of its new replica",
  kept = "for its replica, which kept it",
}

-- Judges how long writes ({ name, uid, version, at }) waited, by moments ({ what, member, at }, in order; "settled" is
-- none that disturbs). may: seconds by kind. Gives the longest of each kind, the longest wait (`all`), and `late`, a
-- text for each part that was longer than it may be.
function history:waits(writes, moments, may)
  local found = { all = 0, failover = 0, handover = 0, list = 0, kept = 0, late = {} }
  for _, write in ipairs(writes) do
    local call = handling(self, write)
    found.all = math.max(found.all, call.over - write.at)
    for kind, part in pairs(parts_of(self, write, call, moments)) do
      local seconds, after = part[1], part[2] and " after the " .. part[2].what or ""
      found[kind] = math.max(found[kind], seconds)
      if seconds > may[kind] then
        local slot, lines = history.slot(write.uid), story(self, write, call.over, moments)
        table.insert(found.late, ("%s, in slot %d of 4096: a change waited %.1f s %s%s, and may %.1f s:\n%s"):format(
          write.name, slot, seconds, MEANS[kind], after, may[kind], lines))
      end
    end
  end
  return found
end

-- The figures of waits() in words.
function history.describe(found, may)
  local list = {}
  for i, kind in ipairs { "failover", "handover", "list", "kept" } do
    list[i] = ("%s %.1f s (at most %.1f)"):format(kind, found[kind], may[kind])
  end
  return ("the longest wait of a change %.1f s, and since the group was disturbed last: "):format(found.all)
    .. table.concat(list, ", ")
end

return history
