-- Counts pods by the kind of their owner, and prints pods without an owner. The cache has metadata only.
--   kubelua exec scripts/orphans.lua
local k8s = require "k8s"

local pods = k8s.informer("pods", { metadata_only = true, prune = { "metadata.managedFields" } })

k8s.main(function()
  local counts, kinds = {}, {}
  for pod in pods:lister():list() do
    local kind = pod:get "metadata.ownerReferences[0].kind"
    if kind then
      if not counts[kind] then
        counts[kind] = 0
        kinds[#kinds + 1] = kind
      end
      counts[kind] = counts[kind] + 1
    else
      print("nobody owns " .. pod:key())
    end
  end
  table.sort(kinds)
  for _, kind in ipairs(kinds) do
    print(("%-14s owns %d pods"):format(kind, counts[kind]))
  end
end)
