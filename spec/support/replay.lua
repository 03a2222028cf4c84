-- Handler calls, replayed: what a script that runs spec/support/scripts/replay.lua prints, one JSON line for each call,
-- is put onto an empty map for each kind. A call that no handler may get raises: an add of a key that is there, an
-- update of one that is not, a version that is older than what came before for its key.
local cjson = require "cjson"

local replay = {}
replay.__index = replay

-- Of an engine that prints such lines. `returning`: namespaces leave, and come back with objects that did not change.
function replay.new(engine, returning)
  local self = { engine = engine, read = 1, kinds = {}, versions = {}, calls = 0, returning = returning }
  return setmetatable(self, replay)
end

local function check(condition, line, what)
  if not condition then error(what .. ": " .. line, 0) end
end

local function apply(self, line)
  local call = cjson.decode(line)
  local map = self.kinds[call.kind] or {}
  self.kinds[call.kind] = map
  local name, known = call.kind .. " " .. call.key, map[call.key]
  local version, newest = tonumber(call.version), self.versions[name] or 0
  if call.call == "add" then
    check(not known, line, "an add of what is there")
    check(version > newest or self.returning and version == newest, line, "an add of an older state")
  elseif call.call == "update" then
    check(known, line, "an update of what is not there")
    check(known.version == call.old, line, "an update from another state than the last, " .. tostring(known.version))
    check(version > newest, line, "an update to an older state")
  else
    check(known, line, "a delete of what is not there")
    check(version >= newest, line, "a delete of an older state")
  end
  self.versions[name] = version
  map[call.key] = call.call ~= "delete" and { version = call.version, uid = call.uid } or nil
  self.calls = self.calls + 1
end

-- Takes in what the engine printed meanwhile.
function replay:take()
  local text = self.engine:out()
  while true do
    local stop = text:find("\n", self.read, true)
    if not stop then return end
    local line = text:sub(self.read, stop - 1)
    self.read = stop + 1
    if line:sub(1, 1) == "{" then apply(self, line) end
  end
end

-- What differs from `list`, the answer of an API server; nil when nothing does.
function replay:difference(kind, list)
  local map, served = self.kinds[kind] or {}, {}
  for _, item in ipairs(list.items) do
    local meta = item.metadata
    local key = meta.namespace .. "/" .. meta.name
    local known = map[key]
    served[key] = true
    if not known then return key .. " is not known" end
    if known.version ~= meta.resourceVersion or known.uid ~= meta.uid then
      local known_as, is = known.uid .. "@" .. known.version, meta.uid .. "@" .. meta.resourceVersion
      return ("%s is known as %s, not as %s"):format(key, known_as, is)
    end
  end
  for key in pairs(map) do
    if not served[key] then return key .. " is not there" end
  end
end

return replay
