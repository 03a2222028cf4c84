-- Where images come from, and whether the same name means the same image tomorrow.
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
  why = "Without a tag, or with latest, the image that runs is the one that was newest when a node pulled it. Pods "
    .. "of one workload may run different programs, and there is no version to go back to.",
  how = "Name a version: nginx:1.27.3, or a digest, nginx@sha256:...",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      local image = values.text(container.image)
      if image then
        local tag, digest = tag_of(image)
        if not digest and (not tag or tag == "latest") then
          local message = tag and "%s: the image %s is whatever is newest" or "%s: the image %s has no tag"
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
  title = "Images come from the registries that are allowed",
  severity = "low",
  category = "Images",
  why = "Whoever may push to the registry runs programs in the cluster, and while it does not answer, no pod can be "
    .. "moved to a node that lacks the image.",
  how = "Copy the image to your own registry, and name that. Which ones are allowed is told by --param "
    .. "registries=ghcr.io/acme,registry.example.com:5000; without it nothing is checked.",
  kinds = pods.kinds,
  params = { owned = false, registries = {} },
  skip = function(obj, params)
    return not params.registries[1] and "no registries are given" or pods.owned(obj, params)
  end,
  check = function(obj, r, _, params)
    for container, place in pods.containers(obj) do
      local image = values.text(container.image)
      if image and not is_allowed(image, params.registries) then
        local message = ("%s: the image %s is of another registry"):format(place:says(), image)
        r:fail(message, { path = place:path "image", value = image })
      end
    end
  end,
}

k8s.rule {
  id = "image-pull-policy",
  title = "Images that may change are pulled",
  severity = "low",
  category = "Images",
  why = "A node that has an image of that name does not ask for a newer one. With latest, which image a pod gets "
    .. "then depends on the node that it is put on.",
  how = "Name a version, or let imagePullPolicy be Always, as it is when nothing is said.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      local policy, image = values.text(container.imagePullPolicy), values.text(container.image)
      if policy and policy ~= "Always" and image then
        local tag, digest = tag_of(image)
        if not digest and (not tag or tag == "latest") then
          r:fail(("%s: the newest image %s is wanted, but not pulled"):format(place:says(), image), {
            path = place:path "imagePullPolicy",
            value = policy,
          })
        end
      end
    end
  end,
}
