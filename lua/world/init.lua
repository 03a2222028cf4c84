-- The world: controllers that are told what changed, and look at one key after the other. C calls the functions of this
-- module (core/world/) while a thread holds the world.
local cache = require "world.cache"
local complete = require "world.complete"
local logs = require "world.logs"
local queue = require "world.queue"
local raw = require "world.raw"

jit.off() -- much code that each runs briefly: compiling it took a fifth more than it saved

local world = {}

-- In the order in which they hear of a change.
local modules = {
  "nodes", "evictions", "namespaces", "accounts", "services", "deployments", "replicasets", "statefulsets",
  "daemonsets", "cronjobs", "jobs", "autoscalers", "volumes", "garbage", "scheduler", "kubelet", "budgets",
  "endpoints", "mirrors", "rates",
}

-- Each module returns what its controllers are: { name, sync = function(key) }, which have added their handlers.
-- Returns what is wrong with the options; nil if nothing is.
function world.start(options)
  for _, name in ipairs(modules) do
    local module = require("world." .. name)
    local problem = module.start and module.start(options)
    if problem then return problem end
  end
end

local function on_change(...)
  local ok, problem = pcall(cache.take, ...)
  if not ok then raw.warn(problem) end
end

-- Looks at the next key, with every change known; false if there is none.
local function look()
  repeat until raw.changes(on_change, queue.is_empty()) == 0
  queue.fire(raw.now())
  local controller, key = queue.take()
  if not controller then return false end
  if not complete.is_ready(controller.name, key) then return true end
  local ok, problem = pcall(controller.sync, key)
  if not ok then raw.warn(("%s %s: %s"):format(controller.name, key, problem)) end
  return true
end

-- Does what is due, for at most `limit` keys. Returns when there is more: now, later, or nil for not before a change.
function world.turn(limit)
  for _ = 1, limit do
    if not look() then return queue.due() end
  end
  return raw.now()
end

-- Does what is due now, for at most `limit` keys, and then moves the clock to what is due next, or to `target` if that
-- comes first. Returns whether there is more to do on the way.
function world.advance(target, limit)
  local due = world.turn(limit)
  local goes_on = due and due <= target and not raw.stopping()
  raw.move(goes_on and math.max(due, raw.now()) or target)
  return goes_on
end

local function read_changes()
  repeat until raw.changes(on_change, false) == 0
end

-- The text of a pod's log, or the id of who follows it; nil and what is wrong.
function world.log(key, query)
  read_changes()
  return logs.read(key, query)
end

-- Lines that were written since the last time, and whether that is all.
function world.log_more(id)
  read_changes()
  return logs.more(id)
end

world.log_close = logs.close

return world
