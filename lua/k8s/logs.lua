-- k8s.logs(pod, { container, previous, tail, since, timestamps, follow, timeout }): the log of a container.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"
local pod_ref = require "k8s.pod_ref"

local blocking = task.blocking
local resource_of = blocking(raw.live.resource)
local read = blocking(raw.live.logs)
local next_line = blocking(raw.live.line)

local OPTIONS = {
  container = "string",
  previous = "boolean",
  tail = "number",
  since = "duration",
  timestamps = "boolean",
  follow = "boolean",
  timeout = "duration",
}

local TAIL_MAX = 1e9

local function tail_text(tail)
  if not (tail >= 0 and tail <= TAIL_MAX and tail == math.floor(tail)) then
    raw.raise "k8s.logs: tail must be a whole number from 0 to 1000000000"
  end
  return string.format("%d", tail)
end

-- The server takes no time of less than a second.
local function since_text(since)
  local seconds = raw.params.seconds(tostring(since))
  if not seconds then
    raw.raise('k8s.logs: since must be a duration, such as "30s", not "' .. since .. '"')
  end
  return string.format("%d", math.max(1, math.ceil(seconds)))
end

-- The parameters of the request, as name, value, ...
local function query_of(own)
  local query = {}
  local function add(name, value)
    if value then
      query[#query + 1], query[#query + 2] = name, value
    end
  end
  add("container", own.container)
  add("follow", own.follow and "true")
  add("previous", own.previous and "true")
  add("sinceSeconds", own.since and since_text(own.since))
  add("tailLines", own.tail and tail_text(own.tail))
  add("timestamps", own.timestamps and "true")
  return query
end

-- `for line in k8s.logs(pod, { follow = true }) do`. A loop has no place for nil, err: it is raised.
function raw.live.lines_class.__call(lines)
  while true do
    local line, err = next_line(lines)
    if line then
      return line
    elseif err then
      error(err, 0)
    elseif line == nil then
      return nil
    end
  end
end

-- The text, or nil, err; with `follow` the lines, and an err that occurs before them is raised as one among them is.
return function(pod, given)
  local own = options.check("k8s.logs", given, OPTIONS)
  local namespace, name = pod_ref("k8s.logs", pod)
  local query = query_of(own)
  local resource, err = resource_of("k8s.logs", "pods", task.cluster())
  if own.follow then
    if not resource then
      error(err, 0)
    end
    return raw.live.lines(resource, namespace, name, own.timeout, unpack(query))
  elseif not resource then
    return nil, err
  end
  local text, problem = read(resource, namespace, name, own.timeout, unpack(query))
  if not text then
    return nil, problem
  end
  return text
end
