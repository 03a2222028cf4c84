-- Prints the ten largest ConfigMaps, read page by page: without a cache, with one page in memory.
--   kubelua exec scripts/configmap_sizes.lua
local k8s = require "k8s"

k8s.reads { "configmaps:list" }

local SHOWN = 10

k8s.main(function()
  local largest = {}
  for page in k8s.pages("configmaps", { chunk_size = 100 }) do
    for _, map in ipairs(page) do
      largest[#largest + 1] = { key = map:key(), bytes = #map:json() }
    end
    table.sort(largest, function(a, b) return a.bytes > b.bytes end)
    for i = #largest, SHOWN + 1, -1 do
      largest[i] = nil
    end
  end
  print(("%8s  %s"):format("BYTES", "CONFIGMAP"))
  for _, map in ipairs(largest) do
    print(("%8d  %s"):format(map.bytes, map.key))
  end
end)
