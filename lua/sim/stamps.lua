-- Times that a server sets in an update that it takes, by kind: `old` is the object before.
local json = require "sim.json"
local values = require "sim.values"

local stamps = {}

-- New conditions.
function stamps.CertificateSigningRequest(_, object, now)
  for _, condition in json.each(json.at(object, "status.conditions")) do
    values.default(condition, "lastUpdateTime", now)
    values.default(condition, "lastTransitionTime", now)
  end
end

-- Since when a volume is in its phase, unless who changes it says so.
function stamps.PersistentVolume(old, object, now)
  local status, before = json.at(object, "status"), json.at(old, "status")
  if not status then return end
  local given, last = json.text(status, "lastPhaseTransitionTime"), json.text(before, "lastPhaseTransitionTime")
  if json.text(status, "phase") ~= json.text(before, "phase") then
    if given == "" or given == last then json.set(status, "lastPhaseTransitionTime", now) end
  elseif given == "" and last ~= "" then
    json.set(status, "lastPhaseTransitionTime", last)
  end
end

return stamps
