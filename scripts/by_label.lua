-- Lists pods by a label selector from the cache, without a request to the server for each list.
--   kubelua exec scripts/by_label.lua
local k8s = require "k8s"

local pods = k8s.informer("pods"):lister()

local questions = { "tier=api", "tier in (web, worker)", "tier!=db", "!tier" }

k8s.main(function()
  print(("%-24s %6s   %s"):format("SELECTOR", "PODS", "FOR EXAMPLE"))
  for _, selector in ipairs(questions) do
    local first = pods:list(selector)() -- list gives an iterator, its first call the first pod
    print(("%-24s %6d   %s"):format(selector, pods:count(selector), first and first:key() or "-"))
  end
end)
