-- A kubelet without containers, for pods of a cluster with a real scheduler and real controllers: pods on nodes get an
-- address, run, become ready, end as those of `kubelua sim --world` do, and go when they are deleted.
local k8s = require "k8s"

k8s.writes { "pods/status:patch", "pods:delete" }

local pods = k8s.informer "pods"
local lister = pods:lister()
local queue = k8s.queue { name = "pods", workers = 4, qps = 100, burst = 1000 }

pods:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }

local addresses = 0

local function time() return os.date "!%Y-%m-%dT%H:%M:%SZ" end

local function conditions(ready, reason)
  local list = {}
  local states = { Initialized = true, Ready = ready, ContainersReady = ready }
  states.PodReadyToStartContainers = reason == nil
  for _, type in ipairs { "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady" } do
    list[#list + 1] = {
      type = type, status = states[type] and "True" or "False", lastTransitionTime = time(),
      reason = not states[type] and type:find "Ready$" and reason or nil,
    }
  end
  return list
end

local function statuses(pod, state, ready)
  local list = k8s.json.array {}
  for _, container in ipairs(pod.spec.containers) do
    list[#list + 1] = {
      name = container.name, image = container.image, imageID = "", ready = ready, started = ready, restartCount = 0,
      lastState = k8s.json.decode "{}", state = state, containerID = "containerd://1",
    }
  end
  return list
end

local function write(pod, status)
  local written, err = k8s.patch(pod, { status = status }, { type = "strategic", subresource = "status" })
  if not written and err.code ~= 404 and err.code ~= 409 then error(err) end
end

local function run(pod)
  addresses = addresses + 1
  local ip = ("10.99.%d.%d"):format(math.floor(addresses / 250), addresses % 250 + 1)
  write(pod, {
    phase = "Running", podIP = ip, podIPs = { { ip = ip } }, startTime = time(), conditions = conditions(true),
    containerStatuses = statuses(pod, { running = { startedAt = time() } }, true),
  })
end

-- Containers end when their pod says it, and those that are not started again do so after two seconds.
local function plan(pod)
  local seconds = tonumber((pod:annotation "sim.kubelua.dev/run-for" or ""):match "^(%d+)s$")
  local code = tonumber(pod:annotation "sim.kubelua.dev/exit-code" or "0")
  if not seconds and pod.spec.restartPolicy ~= "Always" then seconds = 2 end
  return seconds, code
end

local function finish(pod, code)
  local good = code == 0
  local state = { terminated = {
    exitCode = code, reason = good and "Completed" or "Error", startedAt = pod.status.startTime, finishedAt = time(),
  } }
  write(pod, {
    phase = good and "Succeeded" or "Failed", conditions = conditions(false, good and "PodCompleted" or "PodFailed"),
    containerStatuses = statuses(pod, state, false),
  })
end

local function go_on(pod, job)
  local seconds, code = plan(pod)
  if not seconds or pod.spec.restartPolicy == "Always" then return end
  local left = k8s.time.parse(pod.status.startTime) + seconds - k8s.now()
  if left > 0 then return job:after(left) end
  finish(pod, code)
end

-- A deleted pod first says that its containers ended, as a kubelet does.
local function stop(pod)
  if pod.status.phase == "Running" then
    write(pod, { phase = pod.spec.restartPolicy == "Always" and "Succeeded" or "Failed",
      conditions = conditions(false, "PodFailed") })
  end
  local deleted, err = k8s.delete(pod, { grace_period = 0, precondition = { uid = pod:uid() } })
  if not deleted and err.code ~= 404 and err.code ~= 409 then error(err) end
end

queue:run(function(key, job)
  local pod = lister:get(key)
  if not pod or not pod.spec.nodeName then return end
  if pod.metadata.deletionTimestamp then
    if (pod.metadata.deletionGracePeriodSeconds or 0) > 0 then stop(pod) end
  elseif pod.status.phase == "Pending" then
    run(pod)
  elseif pod.status.phase == "Running" then
    go_on(pod, job)
  end
end)
