-- Counts the images in use, and marks images without a version.
--   kubelua exec scripts/image_report.lua
local k8s = require "k8s"

local pods = k8s.informer("pods"):lister()

-- "registry:5000/web:1.2@sha256:..." has a version, "web" and "web:latest" have none.
local function is_pinned(image)
  local tag = image:match "[^/]+$":match ":([%w_.-]+)"
  return image:find("@", 1, true) ~= nil or (tag ~= nil and tag ~= "latest")
end

k8s.main(function()
  local counts, images = {}, {}
  for pod in pods:list() do
    for _, image in ipairs(pod:get "spec.containers[*].image") do
      if not counts[image] then
        images[#images + 1] = image
      end
      counts[image] = (counts[image] or 0) + 1
    end
  end
  table.sort(images, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  print(("%6s  %-8s  %s"):format("COUNT", "PINNED", "IMAGE"))
  for _, image in ipairs(images) do
    print(("%6d  %-8s  %s"):format(counts[image], is_pinned(image) and "yes" or "no", image))
  end
end)
