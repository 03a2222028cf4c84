-- The lister: by a label, with the index that comes by itself and without one, and by namespace. Medians of 200 calls.
local k8s = require "k8s"
local subject = require "subject"

local CALLS = 200

-- The median in microseconds, and how many objects the last call gave.
local function median(call)
  local times, hits = {}, 0
  for i = 1, CALLS do
    local start = os.clock()
    hits = #call()
    times[i] = (os.clock() - start) * 1e6
    k8s.sleep "1ms"
  end
  table.sort(times)
  return times[CALLS / 2], hits
end

subject.start({}, function(pods)
  local lister = pods:lister()
  local first = pods:query():order("metadata.name"):limit(1):rows()[1]
  local by_version = "app.kubernetes.io/version=" .. first:label "app.kubernetes.io/version"
  local zone = first:label "topology.kubernetes.io/zone"
  -- A third of those, once by the index of the version, once in words that no index serves.
  local by_both = ("%s,topology.kubernetes.io/zone=%s"):format(by_version, zone)
  local by_scan = by_both:gsub("=([^,]+)", " in (%1,none)")
  local namespace = lister:namespace(first:namespace())
  local event = {}
  for _ = 1, 20 do lister:list_all(by_version) end -- until it has its index
  event.select_label_us, event.select_hits = median(function() return lister:list_all(by_version) end)
  event.select_two_us, event.select_two_hits = median(function() return lister:list_all(by_both) end)
  event.select_scan_us, event.select_scan_hits = median(function() return lister:list_all(by_scan) end)
  event.select_namespace_us = median(function() return namespace:list_all() end)
  return event
end)
