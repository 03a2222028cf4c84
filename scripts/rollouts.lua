-- Prints, for each Deployment that has settled after changes, the number of ready pods, and the names of the
-- others. During a rollout nothing is printed; rollouts that end together query the server concurrently.
--   kubelua run -f scripts/rollouts.lua
local k8s = require "k8s"

k8s.reads { "pods:list" }

local function selector_of(deployment)
  local terms = {}
  for key, value in pairs(deployment:get "spec.selector.matchLabels" or {}) do
    terms[#terms + 1] = key .. "=" .. value
  end
  return table.concat(terms, ",")
end

local function not_ready(pods)
  local names = {}
  for _, pod in ipairs(pods) do
    local ready = pod:get "status.conditions[?type=='Ready'].status"
    if ready[1] ~= "True" then names[#names + 1] = pod:name() end
  end
  table.sort(names)
  return names
end

k8s.informer("deployments.apps"):on_update(function(_, deployment)
  local pods, err = k8s.list("pods", { namespace = deployment:namespace(), selector = selector_of(deployment) })
  if not pods then return nil, err end
  local waiting = not_ready(pods)
  print(("%s: %d of %d ready %s"):format(deployment:key(), #pods - #waiting, #pods, table.concat(waiting, " ")))
end, { changed = { "spec", "status" }, debounce = "2s", concurrency = 8 })
