-- Events that components tell of objects, counted and bounded as client-go's recorder does it: the same Event again is
-- counted; the tenth message of a kind within ten minutes, and each after it, is one Event for all of them; a component
-- tells at most 25 Events of an object, and one more every five minutes. An hour after its last write an Event goes.
local api = require "world.api"
local cache = require "world.cache"
local memory = require "world.memory"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"

local ID = "events"
local SIMILAR, SIMILAR_WITHIN = 10, 600 * times.second
local BURST, REFILL = 25, 300 * times.second
local LIFE = 3600 * times.second
local NAME_MAX = 253
local COMBINED = "(combined from similar events): "

local events = {}

local groups, told, buckets = memory.new(), memory.new(), memory.new()
local last_us, nth = 0, 0

-- The name of a new Event, which has the time in nanoseconds; several of an instant are counted on.
function events.name_of(about)
  local us = times.now()
  nth = us == last_us and nth + 1 or 0
  last_us = us
  local low = us % 2 ^ 20 * 1000 + nth -- a number has no more than 53 bits
  local high = math.floor(us / 2 ^ 20) * 1000 + math.floor(low / 2 ^ 20)
  local name = ("%s.%x%05x"):format(about.name, high, low % 2 ^ 20)
  return #name <= NAME_MAX and name or raw.hex(32)
end

-- The reference to an object that Events are about, or to a field of it.
function events.about(id, object, field)
  local resource, metadata = cache.resources[id], object.metadata
  return {
    kind = resource.kind, apiVersion = resource.api_version, namespace = metadata.namespace, name = metadata.name,
    uid = metadata.uid, resourceVersion = metadata.resourceVersion, fieldPath = field,
  }
end

-- The message to write, and the key under which it is counted.
local function combine(group, field, message, now)
  local similar = memory.get(groups, group)
  if not similar or now - similar.at > SIMILAR_WITHIN then similar = { count = 0, messages = {} } end
  similar.at = now
  memory.set(groups, group, similar)
  if not similar.messages[message] then
    if similar.count == SIMILAR - 1 then return COMBINED .. message, group end
    similar.count = similar.count + 1
    similar.messages[message] = true
  end
  return message, table.concat({ group, field, message }, "\n")
end

-- Whether that component may tell one more Event of the object.
local function is_spared(who, now)
  local bucket = memory.get(buckets, who) or { left = BURST, at = now }
  bucket.left = math.min(BURST, bucket.left + (now - bucket.at) / REFILL)
  bucket.at = now
  memory.set(buckets, who, bucket)
  if bucket.left < 1 then return false end
  bucket.left = bucket.left - 1
  return true
end

local function create(agent, source, about, seen, type, reason, message)
  api.create(agent, ID, about.namespace or "default", {
    metadata = { name = seen.name, namespace = about.namespace or "default" }, involvedObject = about, type = type,
    reason = reason, message = message, source = source, reportingComponent = source.component,
    reportingInstance = source.host or "", firstTimestamp = seen.first, lastTimestamp = times.text(),
    count = seen.count,
  })
end

-- One more Event; `source`: { component, host }.
function events.tell(agent, source, about, type, reason, message)
  local now = times.now()
  local who = table.concat({ source.component, source.host or "", about.kind, about.namespace or "", about.name,
    about.uid or "", type }, "\n")
  local text, key = combine(who .. "\n" .. reason, about.fieldPath or "", message, now)
  local seen = memory.get(told, key) or { count = 0, first = times.text(), name = events.name_of(about) }
  seen.count = seen.count + 1
  memory.set(told, key, seen)
  if not is_spared(who, now) then return end
  local event = { metadata = { namespace = about.namespace or "default", name = seen.name } }
  local is_known = seen.count > 1 and api.patch(agent, ID, event,
    { count = seen.count, lastTimestamp = times.text(), message = text })
  if not is_known then create(agent, source, about, seen, type, reason, text) end
end

-- tell(object, type, reason, message) of one component of kube-controller-manager, of objects of a resource.
function events.recorder(component, id)
  return function(object, ...)
    events.tell("kube-controller-manager", { component = component }, events.about(id, object), ...)
  end
end

-- --- the end of Events, whoever wrote them

local keeper = { name = "events" }
local written = {} -- by key: when it was written last

function keeper.sync(key)
  local event = cache.get(ID, key)
  local due = event and written[key] + LIFE
  if due and due > times.now() then return queue.add_at(due, keeper, key) end
  if event then api.delete("kube-apiserver", ID, event) end
end

cache.also(ID, function(new, _, key)
  written[key] = new and times.now() or nil
  if new then queue.add_at(written[key] + LIFE, keeper, key) end
end)

return events
