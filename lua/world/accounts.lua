-- What each namespace has from the beginning: its default service account, and the authority's certificate.
local api = require "world.api"
local cache = require "world.cache"
local queue = require "world.queue"

local AGENT, ID = "kube-controller-manager", "namespaces"

local DESCRIPTION = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints "
  .. "such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
  .. "Kubernetes clusters."

local controller = { name = "accounts" }

function controller.sync(key)
  local namespace = cache.get(ID, key)
  if not namespace or namespace.metadata.deletionTimestamp then return end
  if not cache.get("serviceaccounts", key .. "/default") then
    api.create(AGENT, "serviceaccounts", key, { metadata = { name = "default" } })
  end
  if not cache.get("configmaps", key .. "/kube-root-ca.crt") then
    api.create(AGENT, "configmaps", key, {
      metadata = { name = "kube-root-ca.crt", annotations = { ["kubernetes.io/description"] = DESCRIPTION } },
      data = { ["ca.crt"] = "" },
    })
  end
end

cache.on(ID, function(new, _, key) if new then queue.add(controller, key) end end)
for _, id in ipairs { "serviceaccounts", "configmaps" } do
  cache.also(id, function(new, old)
    local metadata = not new and old.metadata
    if metadata and (metadata.name == "default" or metadata.name == "kube-root-ca.crt") then
      queue.add(controller, metadata.namespace)
    end
  end)
end

return { controller }
