-- Some hundred objects as people write them, good and bad in all sorts of ways, the same at each call: for specs that
-- compare what two programs find.
local null = require("cjson").null

local generated = {}

-- A generator of our own, so that the objects do not depend on the machine.
local state

local function random(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % n + 1
end

local function one_of(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local IMAGES = {
  "nginx", "nginx:1.27.3", "nginx:latest", "registry:5000/app", "registry:5000/app:2.1",
  "ghcr.io/acme/web:v3", "ghcr.io/acme/web:latest", "registry.example.com:443/team/api",
  "app@sha256:4bcff63911fcb4448bd4fdacec207030997caf25",
  "registry:5000/app:latest@sha256:4bcff63911fcb4448bd4fdacec207030997caf25", "a/b/c", "a:b/c",
  "busybox:1.37",
}
local NAMESPACES = { "shop", "team-a", "team-b" }
local MAPS = { "settings", "web", "flags", "missing", "other" }
local KEYS = { "mode", "speed", "logo" }
local KINDS = { "Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob" }
local VERSIONS = { Pod = "v1", Job = "batch/v1", CronJob = "batch/v1" }
local OWNERS = {
  Pod = { "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "batch/v1 Job", "argoproj.io/v1alpha1 Rollout", "v1 Node" },
  ReplicaSet = { "apps/v1 Deployment", "argoproj.io/v1alpha1 Rollout" },
  Job = { "batch/v1 CronJob", "example.com/v1 CronJob" },
}

-- Nothing, a null or a value.
local function maybe(percent, value)
  if chance(percent) then
    return value
  end
  return chance(20) and null or nil
end

local function context()
  return {
    privileged = maybe(20, chance(50)),
    runAsUser = maybe(40, one_of { 0, 1000, 65534 }),
    runAsNonRoot = maybe(40, chance(60)),
  }
end

local function resources()
  return {
    requests = maybe(50, { cpu = "100m", memory = maybe(50, "64Mi") }),
    limits = maybe(60, { cpu = maybe(50, "1"), memory = maybe(60, one_of { "128Mi", "1Gi", 1000000 }) }),
  }
end

local function reference(more)
  more.name, more.optional = one_of(MAPS), maybe(30, chance(70))
  return more
end

local function env()
  local list = {}
  for i = 1, random(3) do
    local from = { fieldRef = { fieldPath = "metadata.name" } }
    if chance(60) then
      from = { configMapKeyRef = reference { key = one_of(KEYS) } }
    end
    list[i] = { name = "V" .. i, value = chance(30) and "x" or nil, valueFrom = chance(60) and from or nil }
  end
  return list
end

local function container(name)
  return {
    name = name,
    image = maybe(95, one_of(IMAGES)),
    securityContext = maybe(60, context()),
    resources = maybe(70, resources()),
    env = maybe(40, env()),
    envFrom = maybe(20, { { secretRef = { name = "s" } }, { configMapRef = reference {} } }),
  }
end

local function containers(name, most)
  local list = {}
  for i = 1, random(most) do list[i] = container(name .. i) end
  return list
end

local function volumes()
  return {
    { name = "a", configMap = maybe(50, reference {}) },
    { name = "b", projected = maybe(50, { sources = { { secret = { name = "s" } }, { configMap = reference {} } } }) },
    { name = "c", emptyDir = { sizeLimit = "1Gi" } },
  }
end

local function pod_spec()
  return {
    os = chance(8) and { name = one_of { "windows", "linux" } } or nil,
    securityContext = maybe(50, context()),
    resources = maybe(10, resources()),
    containers = maybe(95, containers("c", 3)),
    initContainers = maybe(30, containers("i", 2)),
    ephemeralContainers = maybe(15, containers("e", 1)),
    volumes = maybe(50, volumes()),
  }
end

local function owners(kind)
  local version, owner = one_of(OWNERS[kind]):match "^(%S+) (%S+)$"
  return { { apiVersion = version, kind = owner, name = "o", uid = "1", controller = maybe(80, true) } }
end

local function spec_of(kind)
  if kind == "Pod" then
    return pod_spec()
  elseif kind == "CronJob" then
    return { schedule = "0 3 * * *", jobTemplate = { spec = { template = { spec = pod_spec() } } } }
  end
  return { template = maybe(97, { metadata = { labels = { app = "a" } }, spec = maybe(97, pod_spec()) }) }
end

-- An array of as many workloads, and of the config maps that some of them name.
function generated.objects(count)
  state = 20261122
  local objects = {}
  for i, namespace in ipairs(NAMESPACES) do
    for j = 1, i + 1 do
      local data = { [one_of(KEYS)] = "x" }
      objects[#objects + 1] = {
        apiVersion = "v1",
        kind = "ConfigMap",
        metadata = { name = MAPS[j], namespace = namespace },
        data = maybe(70, data),
        binaryData = maybe(30, data),
      }
    end
  end
  for i = 1, count do
    local kind = one_of(KINDS)
    local metadata = { name = "w" .. i, namespace = one_of(NAMESPACES) }
    metadata.ownerReferences = OWNERS[kind] and maybe(30, owners(kind)) or nil
    objects[#objects + 1] = {
      apiVersion = VERSIONS[kind] or "apps/v1",
      kind = kind,
      metadata = metadata,
      spec = maybe(98, spec_of(kind)),
    }
  end
  return objects
end

return generated
