-- Kubelets: pods on nodes get an IP and run, end and start again, and go when they are deleted.
local api = require "world.api"
local cache = require "world.cache"
local container_events = require "world.container_events"
local containers = require "world.containers"
local ips = require "world.ips"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local times = require "world.times"
local values = require "world.values"

local AGENT, ID = "kubelet", "pods"
-- A container that ended is started at once; then it waits, longer each time, until it has run for long.
local BACKOFF_S, BACKOFF_MAX_S = 10, 300
local FORGIVEN = 2 * BACKOFF_MAX_S * times.second

local controller = { name = "kubelet" }
local plans = {} -- by uid: times that were drawn once

local function plan_of(pod)
  local uid = pod.metadata.uid
  plans[uid] = plans[uid] or { fails = {}, due = {} } -- these by container
  return plans[uid]
end

-- Whether the time has come; else the pod is looked at again then.
local function is_due(key, due)
  if due <= times.now() then return true end
  queue.add_at(due, controller, key)
  return false
end

local function host_ip(pod)
  local node = cache.get("nodes", pod.spec.nodeName)
  for _, address in ipairs(node.status and node.status.addresses or {}) do
    if address.type == "InternalIP" then return address.address end
  end
end

-- The conditions of a pod whose containers are ready or not, in a kubelet's order.
local function conditions_of(pod, sandbox, ready, over)
  local list, old = {}, pod.status and pod.status.conditions or {}
  local function set(type, ok, reason, message)
    local new = { type = type, status = ok and "True" or "False" }
    if not ok then new.reason, new.message = reason, message end
    for _, condition in ipairs(pods.set_condition(old, new)) do
      if condition.type == type then list[#list + 1] = condition end
    end
  end
  local why = over or "ContainersNotReady"
  set("PodReadyToStartContainers", sandbox)
  set("Initialized", true)
  set("Ready", ready, why, not over and "containers with unready status" or nil)
  set("ContainersReady", ready, why, not over and "containers with unready status" or nil)
  set("PodScheduled", true)
  for _, condition in ipairs(old) do -- those of others
    if not pods.condition({ status = { conditions = list } }, condition.type) then list[#list + 1] = condition end
  end
  return list
end

local function write(pod, more, sandbox, ready, over)
  local status = values.merged(pod.status, more)
  status.conditions = conditions_of(pod, sandbox, ready, over)
  local ip = host_ip(pod)
  status.hostIP, status.hostIPs = ip, ip and { { ip = ip } }
  status.startTime = status.startTime or times.text()
  status.qosClass = status.qosClass or "BestEffort"
  return api.status(AGENT, ID, pod, status)
end

local function each(pod, make)
  local list = raw.array {}
  for i, container in ipairs(containers.of(pod)) do
    list[i] = make(container, containers.find((pod.status or {}).containerStatuses, container.name))
  end
  return list
end

-- A new pod on its node: its containers are created first, and run a moment later.
local function begin(key, pod, plan)
  if not plan.start then
    plan.start = times.now() + (300 + raw.random(1200)) * times.ms
    write(pod, {
      phase = "Pending",
      containerStatuses = each(pod, function(c, old) return containers.waiting(c, old, "ContainerCreating") end),
    }, false, false)
  end
  if not is_due(key, plan.start) then return end
  local inits = {}
  for i, container in ipairs(pod.spec.initContainers or {}) do
    local running = containers.running(container)
    inits[i] = container.restartPolicy == "Always" and running or containers.ended(container, running, 0)
    inits[i].ready = true
    container_events.started(pod, container, "initContainers")
  end
  local ip = pod.spec.hostNetwork and host_ip(pod) or ips.take(pod)
  write(pod, {
    phase = "Running", podIP = ip, podIPs = ip and { { ip = ip } },
    initContainerStatuses = #inits > 0 and inits or nil,
    containerStatuses = each(pod, function(c, old)
      container_events.started(pod, c)
      return containers.running(c, old)
    end),
  }, true, false)
end

local function has_failed(statuses)
  for _, status in ipairs(statuses) do
    if status.state.terminated and status.state.terminated.exitCode ~= 0 then return true end
  end
  return false
end

-- When the readiness probe of a running container succeeds first.
local function ready_at(container, status)
  local delay = (container.readinessProbe or {}).initialDelaySeconds or 0
  return (times.of(status.state.running.startedAt) or 0) + delay * times.second
end

-- The next state of a container that runs: it ends when its time is over, or when something kills it.
local function next_running(pod, plan, container, old)
  local started = times.of(old.state.running.startedAt) or times.now()
  if plan.run_for == nil then
    plan.run_for, plan.code = containers.plan(pod)
    plan.run_for = plan.run_for or false
  end
  local ends = plan.run_for and started + plan.run_for
  local code = plan.crash == container.name and 1 or ends and ends <= times.now() and plan.code
  if not code then
    local ready = ready_at(container, old)
    local status = values.merged(old, { ready = ready <= times.now() })
    return status, not status.ready and ready or ends
  end
  plan.crash = nil
  local policy = pod.spec.restartPolicy
  if policy == "Never" or (policy == "OnFailure" and code == 0) then return containers.ended(container, old, code) end
  local fails = plan.fails[container.name] or old.restartCount or 0
  if times.now() - started >= FORGIVEN then fails = 0 end
  plan.fails[container.name] = fails + 1
  if fails == 0 then
    container_events.started(pod, container)
    local status = containers.restarted(container, old, code)
    status.ready = ready_at(container, status) <= times.now()
    return status, times.now() + times.second
  end
  local delay_s = math.min(BACKOFF_S * 2 ^ (fails - 1), BACKOFF_MAX_S)
  plan.due[container.name] = times.now() + delay_s * times.second
  container_events.waits(pod, container)
  return containers.crashed(pod, container, old, code, delay_s), plan.due[container.name]
end

local function next_state(pod, plan, container, old)
  if not old or not old.state then -- of a pod that was loaded without it
    old = containers.running(container, old)
    return old, ready_at(container, old)
  end
  if old.state.running then return next_running(pod, plan, container, old) end
  if old.state.terminated then return old end
  local due = plan.due[container.name] or times.now()
  if due > times.now() then return old, due end
  container_events.started(pod, container)
  local status = containers.running(container, old, 1)
  status.ready = ready_at(container, status) <= times.now()
  return status, times.now() + times.second
end

local function go_on(key, pod, plan)
  local all_ready, over, due = true, #containers.of(pod) > 0, nil
  local statuses = each(pod, function(container, old)
    local status, at = next_state(pod, plan, container, old)
    all_ready = all_ready and status.ready
    over = over and status.state.terminated ~= nil
    due = at and math.min(due or at, at) or due
    return status
  end)
  if over then
    local failed = has_failed(statuses)
    return write(pod, { phase = failed and "Failed" or "Succeeded", containerStatuses = statuses }, false, false,
      not failed and "PodCompleted" or "PodFailed")
  end
  write(pod, { containerStatuses = statuses }, true, all_ready)
  if due then queue.add_at(math.max(due, times.now() + times.ms), controller, key) end
end

-- A deleted pod has its grace period, and mostly needs less.
local function stop(key, pod, plan)
  local grace = (pod.metadata.deletionGracePeriodSeconds or 0) * times.second
  if not plan.stop then
    plan.stop = times.now() + math.min(grace, (500 + raw.random(1500)) * times.ms)
    container_events.stopping(pod)
  end
  if not is_due(key, plan.stop) then return end
  api.delete(AGENT, ID, pod, nil, 0)
end

function controller.sync(key)
  local pod = cache.get(ID, key)
  if not pod or not pod.spec.nodeName or not cache.get("nodes", pod.spec.nodeName) then return end
  local plan = plan_of(pod)
  if pod.metadata.deletionTimestamp then
    if (pod.metadata.deletionGracePeriodSeconds or 0) > 0 then stop(key, pod, plan) end
  elseif pods.phase(pod) == "Pending" then
    begin(key, pod, plan)
  elseif pods.phase(pod) == "Running" then
    go_on(key, pod, plan)
  end
end

-- Has the container of a running pod end with an error.
function controller.crash(key, container)
  local pod = cache.get(ID, key)
  plan_of(pod).crash = container
  queue.add(controller, key)
end

cache.on(ID, function(new, old, key)
  if old and (not new or new.metadata.uid ~= old.metadata.uid) then
    plans[old.metadata.uid] = nil
    ips.release(old)
  end
  if new then queue.add(controller, key) end
end)

return { controller, crash = controller.crash }
