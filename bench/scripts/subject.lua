-- What the measured scripts share: an informer of pods that speaks the protocol of `kubelua bench`
-- (docs/performance.md): one JSON object a line on stdout.
local k8s = require "k8s"

local subject = {}

local latencies, updates, synced = {}, 0, false

function subject.say(event) print(k8s.json.encode(event)) end

-- p50, p99, p99.9 and the largest, in microseconds; null when nothing was measured.
local function percentiles()
  local count = #latencies
  if count == 0 then return k8s.null end
  table.sort(latencies)
  local function at(share) return latencies[math.max(1, math.ceil(count * share))] end
  return k8s.json.array { at(0.5), at(0.99), at(0.999), latencies[count] }
end

local function answer(name, objects)
  subject.say { event = "marker", name = name, objects = objects, updates = updates, latency_us = percentiles() }
  latencies, updates = {}, 0
end

-- An object that was never sent has zeros there; one with projected annotations has nothing.
local function on_update(_, new)
  local sent = tonumber(new:annotation "bench/sent-ns" or 0)
  if sent > 0 then latencies[#latencies + 1] = k8s.now() * 1e6 - sent / 1e3 end
  local spec, meta = new.spec, new.metadata
  updates = updates + 1
  return meta.namespace, meta.name, spec and spec.nodeName
end

-- `options`: of the informer. `more(pods)`, if given, runs once the cache is whole and adds to the first event.
function subject.start(options, more)
  local pods = k8s.informer("pods", options)
  local deleted = 0
  pods:add_event_handler {
    OnAdd = function(obj)
      local name = obj.metadata.name
      if synced and name:sub(1, 7) == "marker-" then answer(name, pods:lister():count()) end
    end,
    OnUpdate = on_update,
    OnDelete = function() deleted = deleted + 1 end,
  }
  k8s.main(function()
    local event = more and more(pods) or {}
    event.event, event.objects = "synced", pods:lister():count()
    synced = true
    subject.say(event)
  end)
end

return subject
