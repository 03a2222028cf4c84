-- Events of the scheduler, which are of the newer kind: one is written, the same again makes it a series, and how long
-- the series got is written half an hour later, or when it is over.
local events = require "world.events"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"

local AGENT, CONTROLLER = "kube-scheduler", "default-scheduler"
local PATH = "/apis/events.k8s.io/v1/namespaces/%s/events"
local OVER, REFRESH = 360 * times.second, 1800 * times.second

local series = { name = "series" }
local open = {} -- by key: the Event, its series, and when it was seen and written last

local function send(method, path, body, type)
  return raw.request(method, path, AGENT, type or "application/json", body) < 300
end

local function write(one)
  local event = one.event
  local path = PATH:format(event.metadata.namespace)
  one.written, one.waits = times.now(), false
  event.series = one.count > 1 and { count = one.count, lastObservedTime = times.micro(one.seen) } or nil
  local is_known = event.series and send("PATCH", path .. "/" .. event.metadata.name, { series = event.series },
    "application/merge-patch+json")
  if not is_known then send("POST", path, event) end
end

-- Writes what was only counted, and forgets what was not seen for long.
function series.sync(key)
  local one, now = open[key], times.now()
  if not one then return end
  local over, refresh = one.seen + OVER, one.written + REFRESH
  if one.waits and (now >= over or now >= refresh) then write(one) end
  if now >= over then
    open[key] = nil
  else
    queue.add_at(math.min(over, one.written + REFRESH), series, key)
  end
end

local function new_event(about, type, reason, action, note)
  return {
    kind = "Event", apiVersion = "events.k8s.io/v1", eventTime = times.micro(), type = type, reason = reason,
    metadata = { name = events.name_of(about), namespace = about.namespace or "default" }, action = action,
    note = note, regarding = about, reportingController = CONTROLLER, reportingInstance = CONTROLLER .. "-world",
  }
end

-- One more Event of a pod.
function series.tell(pod, type, reason, action, note)
  local key = table.concat({ pod.metadata.uid, pod.metadata.resourceVersion, type, reason, action }, " ")
  local one = open[key]
  if not one then
    one = { event = new_event(events.about("pods", pod), type, reason, action, note), count = 0 }
    open[key] = one
  end
  one.count, one.seen, one.waits = one.count + 1, times.now(), true
  if one.count <= 2 then write(one) end
  queue.add_at(one.seen + OVER, series, key)
end

return series
