-- Functional: small functions, aliases of the API, functions that return functions.
local k8s = require "k8s"
local informer, get, patch, null = k8s.informer, k8s.get, k8s.patch, k8s.null

local function map(list, fn)
  local out = {}
  for i, value in ipairs(list) do out[i] = fn(value) end
  return out
end

local function any(list, test)
  for _, value in ipairs(list) do
    if test(value) then return true end
  end
  return false
end

k8s.reads { "secrets:get", "jobs.batch:list" }
k8s.writes { "deployments.apps:patch", "deployments.apps/status:patch", "deployments.apps/scale:patch" }

local slim = function(copy)
  copy.spec.template.spec.volumes = nil
  return copy
end

local deployments = informer("deployments.apps", {
  namespace = "shop",
  transform = slim,
})
deployments:add_index("account", "spec.template.spec.serviceAccountName")

local function is_cheap(container)
  local cpu = container.resources and container.resources.requests and container.resources.requests.cpu
  return cpu ~= nil and k8s.quantity(cpu) <= k8s.quantity "100m"
end

local function images(deployment)
  return map(deployment.spec.template.spec.containers, function(container) return container.image end)
end

local function unpause(deployment)
  return patch(deployment, { spec = { paused = null } })
end

local function mark(deployment)
  return patch(deployment, { status = { observedGeneration = 1 } }, { subresource = "status" })
end

local function token(key)
  local secret, err = get("secrets", key)
  return secret and secret.data.token or nil, err
end

local on_cheap = function(act)
  return function(_, deployment)
    if any(deployment.spec.template.spec.containers, is_cheap) then return act(deployment) end
  end
end

deployments:on_update(on_cheap(unpause), { where = { ["spec.paused"] = true }, concurrency = 8 })
deployments:on_add(function(deployment)
  print(deployment:key(), table.concat(images(deployment), " "))
  return mark(deployment)
end, { filter = function(deployment) return deployment.spec.replicas > 0 end, leader = false })

k8s.main(function()
  local query = deployments:query():where("spec.replicas", ">", 2):order("metadata.name", "desc")
  local jobs, err = k8s.list("jobs.batch", { namespace = "shop", limit = 50 })
  if not jobs then return nil, err end
  local ended = deployments:lister():count "app,!canary"
  local secret, failed = token "shop/registry"
  if not secret then return nil, failed end
  return query:count() + ended + #jobs > 0
end)
