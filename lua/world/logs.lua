-- Logs of pods: what containers that only seem to run could have written.
local cache = require "world.cache"
local containers = require "world.containers"
local times = require "world.times"

local logs = {}

local EVERY, LINES_MAX = 10 * times.second, 1000

local function all_of(pod)
  local list = {}
  for _, field in ipairs { "initContainers", "containers" } do
    for _, container in ipairs(pod.spec[field] or {}) do list[#list + 1] = container end
  end
  return list
end

local function names_of(list)
  local names = {}
  for i, container in ipairs(list) do names[i] = container.name end
  return table.concat(names, " ")
end

-- The container that is asked for, or what is wrong.
local function choose(pod, name)
  local list = all_of(pod)
  if not name and #list == 1 then return list[1] end
  local default = (pod.metadata.annotations or {})["kubectl.kubernetes.io/default-container"]
  if not name and not default then
    return nil, ("a container name must be specified for pod %s, choose one of: [%s]"):format(pod.metadata.name,
      names_of(list))
  end
  for _, container in ipairs(list) do
    if container.name == (name or default) then return container end
  end
  return nil, ("container %s is not valid for pod %s"):format(name or default, pod.metadata.name)
end

local function status_of(pod, container)
  local status = pod.status or {}
  return containers.find(status.containerStatuses, container.name)
    or containers.find(status.initContainerStatuses, container.name)
end

-- The lines of a run of the container, each with its time and its number.
local function lines_of(pod, container, run)
  local began = times.of(run.startedAt)
  local ended = times.of(run.finishedAt) or times.now()
  local lines = { { began, ("%s: started as %s/%s"):format(container.image, pod.metadata.name, container.name), 0 } }
  local first = math.max(1, math.floor((ended - began) / EVERY) - LINES_MAX)
  for n = first, math.floor((ended - began) / EVERY) do
    lines[#lines + 1] = { began + n * EVERY, ("%s: running for %d s"):format(container.image, n * EVERY / 1e6), n }
  end
  if run.finishedAt then
    lines[#lines + 1] = { ended, ("%s: ended with exit code %d"):format(container.image, run.exitCode), math.huge }
  end
  return lines
end

local function text_of(lines, query)
  local tail = tonumber(query.tailLines)
  local seconds = tonumber(query.sinceSeconds)
  local since = seconds and times.now() - seconds * times.second or times.of(query.sinceTime)
  local parts = {}
  for i = math.max(1, tail and #lines - tail + 1 or 1), #lines do
    local at, text = lines[i][1], lines[i][2]
    if not since or at >= since then
      local stamp = query.timestamps == "true" and times.text(at):gsub("Z$", ".000000000Z") .. " " or ""
      parts[#parts + 1] = stamp .. text .. "\n"
    end
  end
  local text = table.concat(parts)
  local limit = tonumber(query.limitBytes)
  return limit and text:sub(1, limit) or text
end

-- --- followers

local followers, last_id = {}, 0

-- The first text has what the query wants; what comes later is all of the run.
local function follow(key, container, run, query)
  last_id = last_id + 1
  followers[last_id] = { key = key, container = container, began = run.startedAt, query = query, after = -1 }
  return last_id
end

-- The followed run of a pod, if it is known; and whether it goes on.
local function run_of(pod, follower)
  local status = status_of(pod, follower.container) or {}
  for _, state in ipairs { status.state or {}, status.lastState or {} } do
    local run = state.running or state.terminated
    if run and run.startedAt == follower.began then return run, state.running ~= nil end
  end
end

-- Lines that a follower has not had, and whether that is the end of it.
function logs.more(id)
  local follower = followers[id]
  local pod = cache.get("pods", follower.key)
  local run, goes_on = nil, false
  if pod then run, goes_on = run_of(pod, follower) end
  if not run then return "", true end
  local lines = {}
  for _, line in ipairs(lines_of(pod, follower.container, run)) do
    if line[3] > follower.after then lines[#lines + 1] = line end
  end
  if lines[1] then follower.after = lines[#lines][3] end
  local text = text_of(lines, follower.query)
  follower.query = { timestamps = follower.query.timestamps }
  return text, not goes_on
end

function logs.close(id) followers[id] = nil end

-- --- requests

local function answer(pod, key, container, run, query)
  if query.follow == "true" then return follow(key, container, run, query) end
  return text_of(lines_of(pod, container, run), query)
end

-- The log of a pod by its key, as the query wants it, or the id of a follower; nil and what is wrong.
function logs.read(key, query)
  local pod = cache.get("pods", key)
  if not pod then return nil, ("pod %s has not been seen by its kubelet yet"):format(key) end
  local container, problem = choose(pod, query.container ~= "" and query.container or nil)
  if not container then return nil, problem end
  if not pod.spec.nodeName then return nil, ("pod %s does not have a host assigned"):format(pod.metadata.name) end
  local status = status_of(pod, container)
  local state = status and status.state or { waiting = { reason = "ContainerCreating" } }
  local last = status and (status.lastState or {}).terminated
  if query.previous == "true" then
    if last then return answer(pod, key, container, last, query) end
    return nil, ("previous terminated container %q in pod %q not found"):format(container.name, pod.metadata.name)
  end
  local run = state.running or state.terminated or last
  if run then return answer(pod, key, container, run, query) end
  return nil, ("container %q in pod %q is waiting to start: %s"):format(container.name, pod.metadata.name,
    state.waiting.reason)
end

return logs
