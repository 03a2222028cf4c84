-- Scheduler: pods that have no node get the one with the fewest pods of those that fit.
local api = require "world.api"
local cache = require "world.cache"
local placing = require "world.placing"
local pods = require "world.pods"
local quantity = require "world.quantity"
local queue = require "world.queue"
local series = require "world.series"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kube-scheduler", "pods"
local RETRY = 300 * times.second

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

-- "1 this, 2 that": how many nodes have each reason.
local function counted(reasons)
  local list = {}
  for reason, n in pairs(reasons) do list[#list + 1] = n .. " " .. reason end
  table.sort(list)
  return table.concat(list, ", ")
end

-- Why no node fits, and that no pod has to go for this one.
local function refusal(objections, helped)
  local total, others = #by_name, {}
  if total == 0 then return "no nodes available to schedule pods" end
  if helped > 0 then others["No preemption victims found for incoming pod"] = helped end
  if helped < total then others["Preemption is not helpful for scheduling"] = total - helped end
  local text = "0/%d nodes are available: %s. no new claims to deallocate, preemption: 0/%d nodes are available: %s."
  return text:format(total, counted(objections), total, counted(others))
end

-- The best node, or why there is none.
local function choose(pod)
  local best, objections, helped = nil, {}, 0
  by_name = by_name or cache.list "nodes"
  for _, node in ipairs(by_name) do
    local name = node.metadata.name
    local objection, helps = placing.objection(node, pod, load_of(name))
    if objection then
      objections[objection] = (objections[objection] or 0) + 1
      helped = helped + (helps and 1 or 0)
    elseif not best or load_of(name).pods < load_of(best).pods then
      best = name
    end
  end
  if best then return best end
  return nil, refusal(objections, helped)
end

function controller.sync(key)
  local pod = cache.get(ID, key)
  if not pod or not waits(pod) then return end
  local node, why = choose(pod)
  if node then
    unfit[key] = nil
    local ok = api.post(AGENT, ID, pod, "binding", {
      apiVersion = "v1", kind = "Binding", metadata = { name = pod.metadata.name },
      target = { apiVersion = "v1", kind = "Node", name = node },
    })
    if ok then
      series.tell(pod, "Normal", "Scheduled", "Binding", ("Successfully assigned %s to %s"):format(key, node))
    end
    return
  end
  unfit[key] = true
  series.tell(pod, "Warning", "FailedScheduling", "Scheduling", why)
  queue.add_at(times.now() + RETRY, controller, key)
  local conditions = pods.set_condition(pod.status and pod.status.conditions, {
    type = "PodScheduled", status = "False", reason = "Unschedulable", message = why,
    observedGeneration = pod.metadata.generation,
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
  local same = new and old and new.metadata.uid == old.metadata.uid and values.equal(new.spec, old.spec)
  if new and waits(new) and not same then queue.add(controller, key) end -- it writes statuses itself
  if not new then unfit[key] = nil end
  if old and old.spec.nodeName and (not new or pods.is_over(new)) then retry() end
end)

return { controller }
