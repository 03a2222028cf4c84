-- Prints the number of pods in each phase: checks once a second, and prints changes.
--   kubelua run -f scripts/phase_report.lua
local k8s = require "k8s"

local factory = k8s.factory {}
local pods = factory:informer "pods"
local last

local function count_phases()
  local text = {}
  for i, row in ipairs(pods:query():group("status.phase"):count()) do
    text[i] = ("%s %d"):format(tostring(row.key), row.count)
  end
  table.sort(text)
  return table.concat(text, ", ")
end

k8s.every("1s", function()
  local ok, err = factory:wait_for_cache_sync "10s" -- waits here; the next look comes when this one has ended
  if not ok then
    return k8s.log.warn("No report", { cause = err.message })
  end
  local now = count_phases()
  if now ~= last then
    print(now)
    last = now
  end
end)
