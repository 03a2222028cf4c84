-- Updates of pods: of a spec little may change.
local json = require "sim.json"

local at = json.at

local pods = {}

local LISTS = { "containers", "initContainers" }
local FREE = { "activeDeadlineSeconds", "tolerations", "schedulingGates" }

-- The part of a spec that may not change: a copy without the fields that may.
local function fixed_part(pod)
  local spec = json.copy(at(pod, "spec"))
  for _, list in ipairs(LISTS) do
    for _, container in json.each(at(spec, list)) do json.remove(container, "image") end
  end
  for _, field in ipairs(FREE) do json.remove(spec, field) end
  return spec
end

-- The problem of an update, as a list: a list of containers that has others in number, or another change; no rule says
-- these.
function pods.changes(old, pod)
  for _, list in ipairs(LISTS) do
    local field = "spec." .. list
    if json.count(at(old, field)) ~= json.count(at(pod, field)) then
      return { { "FieldValueForbidden", field, "pod updates may not add or remove containers" } }
    end
  end
  if json.equal(fixed_part(old), fixed_part(pod)) then return {} end
  return { { "FieldValueForbidden", "spec", "pod updates may not change fields other than `spec.containers[*].image`,"
    .. "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    .. "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)" } }
end

return pods
