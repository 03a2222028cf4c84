-- What happens by itself, at given rates: rollouts, crashes and drains. `--world-rate rollouts=1/m,crashes=10/h`.
local api = require "world.api"
local cache = require "world.cache"
local containers = require "world.containers"
local kubelet = require "world.kubelet"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"
local values = require "world.values"

local AGENT = "kubelua-world"
local DRAINED_FOR = 60 * times.second

local controller = { name = "rates" }
local intervals = {} -- of what happens, in microseconds
local drained = {}   -- of nodes: when they are used again

local units = { s = 1e6, m = 60e6, h = 3600e6, d = 86400e6 }
local kinds = { "rollouts", "crashes", "drains" }

local function choose(list) return #list > 0 and list[raw.random(#list) + 1] or nil end

local act = {}

-- As `kubectl rollout restart`.
function act.rollouts()
  local all = {}
  for _, id in ipairs { "deployments.apps", "statefulsets.apps", "daemonsets.apps" } do
    for _, object in ipairs(cache.list(id)) do
      if not object.metadata.deletionTimestamp then all[#all + 1] = { id = id, object = object } end
    end
  end
  local one = choose(all)
  if not one then return end
  api.patch(AGENT, one.id, one.object, { spec = { template = { metadata = { annotations = {
    ["kubectl.kubernetes.io/restartedAt"] = times.text(),
  } } } } })
end

function act.crashes()
  local pod = choose(values.filter(cache.list "pods", function(pod)
    return pods.phase(pod) == "Running" and pods.is_active(pod)
  end))
  local one = pod and choose(containers.of(pod))
  if one then kubelet.crash(cache.key_of(pod), one.name) end
end

-- As `kubectl drain`: a node takes no pods, and its pods are evicted as far as budgets allow; a minute later it is
-- used again.
function act.drains()
  local node = choose(values.filter(cache.list "nodes", function(node) return not node.spec.unschedulable end))
  if not node then return end
  local name = node.metadata.name
  api.patch(AGENT, "nodes", node, { spec = { unschedulable = true } })
  drained[name] = times.now() + DRAINED_FOR
  queue.add_at(drained[name], controller, "drained " .. name)
  for _, pod in ipairs(cache.list "pods") do
    local ref = cache.controller_of(pod)
    if pod.spec.nodeName == name and pods.is_active(pod) and not (ref and ref.kind == "DaemonSet") then
      api.post(AGENT, "pods", pod, "eviction", {
        apiVersion = "policy/v1", kind = "Eviction",
        metadata = { name = pod.metadata.name, namespace = pod.metadata.namespace },
      })
    end
  end
end

local function end_drain(name)
  local node = cache.get("nodes", name)
  drained[name] = nil
  if node then api.patch(AGENT, "nodes", node, { spec = { unschedulable = raw.null } }) end
end

-- From half of the interval to one and a half.
local function schedule(kind)
  local share = (500 + raw.random(1001)) / 1000
  queue.add_at(times.now() + math.max(times.ms, math.floor(intervals[kind] * share)), controller, kind)
end

function controller.sync(key)
  local name = key:match "^drained (.+)$"
  if name then return end_drain(name) end
  if key == "" then
    for _, kind in ipairs(kinds) do
      if intervals[kind] then schedule(kind) end
    end
    return
  end
  act[key]()
  schedule(key)
end

local function read(text)
  for part in (text .. ","):gmatch "([^,]*)," do
    local kind, count, unit = part:match "^(%a+)=([%d.]+)/(%a)$"
    count = tonumber(count)
    if not kind then return ('"%s" is not a rate such as rollouts=1/m'):format(part) end
    if not act[kind] then return ('unknown rate "%s"; must be one of %s'):format(kind, table.concat(kinds, ", ")) end
    if not count or count <= 0 or count > 1000 or not units[unit] then
      return ('"%s" is not a number from above 0 to 1000 per s, m, h or d'):format(part)
    end
    intervals[kind] = units[unit] / count
  end
end

local function start(options)
  local problem = options.rates and read(options.rates)
  if not problem then queue.add(controller, "") end
  return problem or nil
end

return { controller, start = start }
