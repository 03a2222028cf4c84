-- Sets the label `team` of the namespace on each new ConfigMap, and keeps it up to date.
--   kubelua run -f scripts/namespace_team.lua
--   kubelua run -f scripts/namespace_team.lua --dry-run=client     only logs what it would write
local k8s = require "k8s"

k8s.writes { "configmaps:patch" }

local namespaces = k8s.informer("namespaces"):lister()

local function set_team(map)
  local namespace = namespaces:get(map:namespace())
  local team = namespace and namespace:label "team"
  if not team or map:label "team" == team then return end
  -- The cache may be a moment old: with `lock` the server refuses to change another version than this one.
  local patched, err = k8s.patch(map, { metadata = { labels = { team = team } } }, { lock = true })
  if patched then
    print(("%s is %s's"):format(patched:key(), team))
  elseif err.reason ~= "Conflict" and err.reason ~= "NotFound" then -- then another event comes
    k8s.log.error("Label not set", { object = map:key(), err = err })
  end
end

k8s.informer("configmaps"):add_event_handler {
  OnAdd = set_team,
  OnUpdate = function(_, map) set_team(map) end,
}
