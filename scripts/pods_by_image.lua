-- Finds pods by their images, with an index that the engine keeps up to date.
--   kubelua exec scripts/pods_by_image.lua
local k8s = require "k8s"

local pods = k8s.informer("pods")
local lister = pods:lister()

-- "registry:5000/shop/web:1.2" and "registry:5000/shop/web@sha256:..." are one repository.
pods:add_index("repository", function(pod, emit)
  for _, container in ipairs(pod.spec.containers) do
    emit((container.image:gsub("@.*$", ""):gsub(":[^/:]*$", "")))
  end
end)

k8s.main(function()
  for _, repository in ipairs(lister:index_values "repository") do
    local found = lister:by_index("repository", repository)
    print(("%5d  %s  (%s)"):format(#found, repository, found[1]:key()))
  end
end)
