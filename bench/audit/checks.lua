-- Five checks of pods, one line for each finding: rule, pod and path. What a careful user writes with LuaJIT and
-- lua-cjson by hand; the peer of bench/scripts/audit.lua. checks.lua list|lines FILE
local cjson = require "cjson"

local form, path = ...
local out = {}

local function check_containers(name, list, containers, default)
  for i, container in ipairs(containers) do
    local at = list .. "[" .. i - 1 .. "]."
    local tag = container.image:match ":([^:/@]+)$"
    if not tag or tag == "latest" then
      out[#out + 1] = "image-tag " .. name .. " " .. at .. "image"
    end
    local limits = container.resources and container.resources.limits
    if not (limits and limits.memory and limits.cpu) then
      out[#out + 1] = "limits " .. name .. " " .. at .. "resources"
    end
    local security = container.securityContext
    if security and security.privileged then
      out[#out + 1] = "privileged " .. name .. " " .. at .. "securityContext.privileged"
    end
    local value = security and security.runAsNonRoot
    if value == nil then
      value = default
    end
    if not value then
      out[#out + 1] = "run-as-non-root " .. name .. " " .. at .. "securityContext.runAsNonRoot"
    end
  end
end

local function check(pod)
  local spec, metadata = pod.spec, pod.metadata
  local name = metadata.namespace .. "/" .. metadata.name
  local of_pod = spec.securityContext
  local default = of_pod and of_pod.runAsNonRoot
  check_containers(name, "spec.containers", spec.containers, default)
  if spec.initContainers then
    check_containers(name, "spec.initContainers", spec.initContainers, default)
  end
  if not (metadata.labels and metadata.labels["app.kubernetes.io/part-of"]) then
    out[#out + 1] = "part-of " .. name .. " metadata.labels"
  end
end

if form == "lines" then
  for line in io.lines(path) do
    check(cjson.decode(line))
  end
else
  local file = assert(io.open(path, "rb"))
  local list = cjson.decode(file:read "*a")
  file:close()
  for _, pod in ipairs(list.items) do
    check(pod)
  end
end
if #out > 0 then
  print(table.concat(out, "\n"))
end
