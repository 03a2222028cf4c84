-- Registries, tags and pull policies of images.
--   kubelua audit -f scripts/rules/images.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local values = require "_values"

-- The tag of an image, nil without one, and whether it has a digest. A colon before the last slash is a port.
local function tag_of(image)
  local name, digest = image:match "^([^@]*)(@?)"
  return name:match "[^/]*$":match ":(.*)$", digest ~= ""
end

k8s.rule {
  id = "image-tag",
  title = "Images have a tag or a digest",
  severity = "medium",
  category = "Images",
  why = "An image without a tag, or with the tag latest, is the newest one at the time that a node pulls it. Pods of "
    .. "one workload may run different versions, and there is no version to roll back to.",
  how = "Set a version, such as nginx:1.27.3, or a digest, such as nginx@sha256:...",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      local image = values.text(container.image)
      if image then
        local tag, digest = tag_of(image)
        if not digest and (not tag or tag == "latest") then
          local message = tag and "%s: image %s has the tag latest" or "%s: image %s has no tag"
          r:fail(message:format(place:says(), image), { path = place:path "image", value = image })
        end
      end
    end
  end,
}

-- "docker.io/library/nginx" for "nginx:1.27", as a node completes it; without tag and digest.
local function full_name(image)
  local name = image:match "^[^@]*"
  local head, last = name:match "^(.-)([^/]*)$"
  name = head .. last:match "^[^:]*"
  local first = name:match "^([^/]*)/"
  if first and (first:find "[.:]" or first == "localhost") then
    return name
  end
  return "docker.io/" .. (first and "" or "library/") .. name
end

local function is_allowed(image, registries)
  local name = full_name(image) .. "/"
  for _, registry in ipairs(registries) do
    local prefix = registry:gsub("/*$", "/")
    if name:sub(1, #prefix) == prefix then
      return true
    end
  end
  return false
end

k8s.rule {
  id = "image-registry",
  title = "Images come from allowed registries",
  severity = "low",
  category = "Images",
  why = "Everybody who may push to the registry can run programs in the cluster. While the registry is down, no pod "
    .. "can start on a node that lacks the image.",
  how = "Copy the image to an allowed registry, and use it from there. Set the allowed registries with --param "
    .. "registries=ghcr.io/acme,registry.example.com:5000; without that parameter the rule checks nothing.",
  kinds = pods.kinds,
  params = {
    owned = pods.params.owned,
    registries = { default = {}, help = "registries and repositories that are allowed, such as ghcr.io/acme" },
  },
  skip = function(obj, params)
    return not params.registries[1] and "the parameter registries is not set" or pods.owned(obj, params)
  end,
  check = function(obj, r, _, params)
    for container, place in pods.containers(obj) do
      local image = values.text(container.image)
      if image and not is_allowed(image, params.registries) then
        local message = ("%s: image %s is not from an allowed registry"):format(place:says(), image)
        r:fail(message, { path = place:path "image", value = image })
      end
    end
  end,
}

k8s.rule {
  id = "image-pull-policy",
  title = "Images that may change are always pulled",
  severity = "low",
  category = "Images",
  why = "A node that already has the image does not pull a newer one. With the tag latest, the version that a pod "
    .. "runs depends on its node.",
  how = "Set a version as the tag, or set imagePullPolicy to Always, the default for latest.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      local policy, image = values.text(container.imagePullPolicy), values.text(container.image)
      if policy and policy ~= "Always" and image then
        local tag, digest = tag_of(image)
        if not digest and (not tag or tag == "latest") then
          r:fail(("%s: image %s may change, but is not always pulled"):format(place:says(), image), {
            path = place:path "imagePullPolicy",
            value = policy,
          })
        end
      end
    end
  end,
}
