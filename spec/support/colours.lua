-- Config maps with a colour, the simplest objects that can change, and a script that shows what it knows of them.
local cluster = require "spec.support.cluster"

local colours = { path = "/api/v1/namespaces/default/configmaps" }

function colours.map(name, colour, labels)
  return {
    apiVersion = "v1", kind = "ConfigMap",
    metadata = { name = name, namespace = "default", labels = labels }, data = { colour = colour },
  }
end

-- Prints the whole cache after every event, "cache one=red two=blue", so that one line tells what is known, and how it
-- was synced, "synced by watch-list".
colours.script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespace = "default" })
  local function show()
    local words = {}
    for map in maps:lister():list() do words[#words + 1] = map:name() .. "=" .. (map:get "data.colour" or "?") end
    table.sort(words)
    print("cache " .. table.concat(words, " "))
  end
  maps:add_event_handler { OnAdd = show, OnUpdate = show, OnDelete = show }
  k8s.main(function() print("synced by " .. maps:status().synced_by) end)
]]

-- A simulated server with "one" (red) and "two" (blue).
function colours.sim()
  local sim = cluster.sim()
  sim.api:create(colours.path, colours.map("one", "red"))
  sim.api:create(colours.path, colours.map("two", "blue"))
  return sim
end

return colours
