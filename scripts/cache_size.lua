-- Prints the objects and the memory of a script's caches, by namespace.
--   kubelua exec scripts/cache_size.lua
local k8s = require "k8s"

local NAMESPACES = { "default", "kube-system" }

local caches = {
  { "pods", k8s.informer("pods", { namespaces = NAMESPACES, prune = { "metadata.managedFields" } }) },
  { "configmaps", k8s.informer("configmaps", { namespaces = NAMESPACES, metadata_only = true }) },
  { "nodes", k8s.informer "nodes" },
}

local function show(name, status)
  print(("%-24s %-10s %8d %10.0f KiB"):format(name, status.state, status.objects, status.bytes / 1024))
end

k8s.main(function()
  for _, cache in ipairs(caches) do
    local name, status = cache[1], cache[2]:status()
    show(name, status)
    for _, ns in ipairs(NAMESPACES) do
      if status.namespaces and status.namespaces[ns] then
        show("  " .. ns, status.namespaces[ns])
      end
    end
  end
end)
