-- Scheduler: pods that have no node get the one with the fewest pods of those that fit.
local api = require "world.api"
local cache = require "world.cache"
local placing = require "world.placing"
local pods = require "world.pods"
local quantity = require "world.quantity"
local queue = require "world.queue"
local values = require "world.values"

local AGENT, ID = "kube-scheduler", "pods"

local controller = { name = "scheduler" }
local loads = {}   -- by node: { pods, cpu, memory }
local unfit = {}   -- keys of pods for which there was no node
local by_name = {} -- nodes in the order of their names; nil: to be listed again

local function load_of(name)
  loads[name] = loads[name] or { pods = 0, cpu = 0, memory = 0 }
  return loads[name]
end

local function count(pod, sign)
  if not pod or not pod.spec.nodeName or pods.is_over(pod) then return end
  local load = load_of(pod.spec.nodeName)
  load.pods = load.pods + sign
  load.cpu = load.cpu + sign * quantity.asked(pod, "cpu")
  load.memory = load.memory + sign * quantity.asked(pod, "memory")
end

local function waits(pod)
  return not pod.spec.nodeName and not pod.metadata.deletionTimestamp
    and pod.spec.schedulerName == "default-scheduler"
end

-- The best node, or why there is none.
local function choose(pod)
  local best, objections = nil, {}
  by_name = by_name or cache.list "nodes"
  for _, node in ipairs(by_name) do
    local name = node.metadata.name
    local objection = placing.objection(node, pod, load_of(name))
    if objection then
      objections[objection] = (objections[objection] or 0) + 1
    elseif not best or load_of(name).pods < load_of(best).pods then
      best = name
    end
  end
  if best then return best end
  local reasons = {}
  for objection, n in values.sorted(objections) do reasons[#reasons + 1] = n .. " " .. objection end
  if #reasons == 0 then return nil, "no nodes available to schedule pods" end
  return nil, ("0/%d nodes are available: %s."):format(#by_name, table.concat(reasons, ", "))
end

function controller.sync(key)
  local pod = cache.get(ID, key)
  if not pod or not waits(pod) then return end
  local node, why = choose(pod)
  if node then
    unfit[key] = nil
    api.post(AGENT, ID, pod, "binding", {
      apiVersion = "v1", kind = "Binding", metadata = { name = pod.metadata.name },
      target = { apiVersion = "v1", kind = "Node", name = node },
    })
    return
  end
  unfit[key] = true
  local conditions = pods.set_condition(pod.status and pod.status.conditions, {
    type = "PodScheduled", status = "False", reason = "Unschedulable", message = why,
  })
  api.status(AGENT, ID, pod, values.merged(pod.status, { conditions = conditions }))
end

-- Pods for which there was no node may fit now.
local function retry()
  for _, key in ipairs(values.names(unfit)) do queue.add(controller, key) end
end

cache.on("nodes", function(new, old)
  by_name = nil
  if not old or not new or not values.equal(new.spec, old.spec) or not values.equal(new.metadata.labels,
    old.metadata.labels) then
    retry()
  end
end)

cache.on(ID, function(new, old, key)
  count(old, -1)
  count(new, 1)
  if new and waits(new) then queue.add(controller, key) end
  if not new then unfit[key] = nil end
  if old and old.spec.nodeName and (not new or pods.is_over(new)) then retry() end
end)

return { controller }
