-- k8s.cluster(name): the functions of k8s about another cluster: k8s.cluster("west"):informer("pods").
local raw = ...

local freeze = require("k8s.frozen").freeze
local task = require "k8s.task"

local find, running = raw.cluster.find, coroutine.running

-- The cluster that a coroutine calls a function about, until that returns. MAIN is what is no coroutine.
local targets = setmetatable({}, { __mode = "k" })
local MAIN = {}

function task.cluster()
  return targets[running() or MAIN]
end

local function finish(at, before, ok, ...)
  targets[at] = before
  if not ok then
    error((...), 0)
  end
  return ...
end

local function call(name, fn, ...)
  local at = running() or MAIN
  local before = targets[at]
  targets[at] = name
  return finish(at, before, pcall(fn, ...))
end

-- Modules of the functions, and how each one tells that the cluster is gone: "?" by nil and an err, "!" raises.
local FUNCTIONS = {
  apply = "k8s.apply ?",
  create = "k8s.write_whole ?",
  delete = "k8s.delete ?",
  each_kind = "k8s.each_kind !",
  ensure = "k8s.ensure ?",
  event = "k8s.events !",
  evict = "k8s.actions ?",
  factory = "k8s.factory !",
  get = "k8s.live ?",
  informer = "k8s.factory !",
  kinds = "k8s.kinds ? list",
  list = "k8s.live ?",
  logs = "k8s.logs ?",
  pages = "k8s.live !",
  patch = "k8s.patch ?",
  raw = "k8s.raw_read ?",
  restart = "k8s.actions ?",
  scale = "k8s.actions ?",
  update = "k8s.write_whole ?",
  watch = "k8s.live !",
}

local function method(cluster, name)
  local module, mark, field = string.match(FUNCTIONS[name], "(%S+) (.) ?(%S*)")
  local fn
  return function(self, ...)
    if self ~= cluster then
      raw.raise("cluster:" .. name .. ": methods are called with ':'")
    end
    local there, err = find(cluster.name)
    if mark == "?" and not there then
      return nil, err
    end
    if not fn then
      fn = require(module)
      fn = type(fn) == "table" and fn[field ~= "" and field or name] or fn
    end
    return call(cluster.name, fn, ...)
  end
end

local function unknown_method(content, name)
  require "k8s.unknown"("cluster", name, content, "method")
end

local made = {}

local function make(name)
  local content = { name = name }
  local cluster = freeze("cluster", setmetatable(content, { __index = unknown_method }))
  for method_name in pairs(FUNCTIONS) do
    content[method_name] = method(cluster, method_name)
  end
  return cluster
end

-- k8s.cluster(name): the same value for the same name.
return function(name)
  if type(name) ~= "string" then
    raw.raise("k8s.cluster: the name must be a string, not " .. type(name))
  end
  raw.cluster.check(name)
  made[name] = made[name] or make(name)
  return made[name]
end
