-- Prints the pods that are not running: at the start, then on weekdays at 8:00 in Berlin, summer and winter.
--   kubelua run -f scripts/morning_report.lua
local k8s = require "k8s"

local pods = k8s.informer "pods"

local function report()
  local all, bad = pods:lister():list_all(), 0
  for _, pod in ipairs(all) do
    local phase = pod:get "status.phase" or "Unknown"
    if phase ~= "Running" and phase ~= "Succeeded" then
      bad = bad + 1
      print(phase, pod:key())
    end
  end
  print(("%d of %d pods are not running"):format(bad, #all))
end

k8s.main(report)
-- A report that was missed, as the machine slept, is made up for until noon. With several processes, `leader = true`
-- lets one of them make it.
k8s.cron("0 8 * * mon-fri", report, { tz = "Europe/Berlin", catch_up = "4h" })
