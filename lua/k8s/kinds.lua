-- k8s.kinds: which kinds the server serves.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"
local list = task.blocking(raw.kinds.list)

local kinds = {}

kinds.FILTER = { group = "string", verb = "string", namespaced = "boolean" }

-- k8s.kinds { group = "*.example.com", verb = "list" }: an array of { name, group, version, kind, plural, namespaced,
-- verbs }, and an err beside it when some groups did not respond; or nil, err.
function kinds.list(given)
  local filter = options.check("k8s.kinds", given, kinds.FILTER)
  return list(filter.group, filter.verb, filter.namespaced, "k8s.kinds", task.cluster())
end

return kinds
