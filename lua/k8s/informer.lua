-- The methods of informers: the functions that are told of objects.
local raw = ...

local object = require "k8s.object"
local sources = require "k8s.index_sources"
local task = require "k8s.task"
local blocking = task.blocking
local may_pause = raw.task.may_pause

local methods = raw.informer.methods

local check_self = raw.informer.check
local describe = raw.informer.describe
local WITHOUT_ID = { id = true }

local is_loading = raw.plan.is_open

local function detail_of(claimed, handlers)
  return is_loading() and describe(claimed) .. " " .. require("k8s.plan").text(handlers, WITHOUT_ID) or nil
end

local function check_options(where, given, set)
  return require("k8s.options").check(where, given, require("k8s.handler_options")[set])
end

local function register(where, claimed, handlers)
  local made = require("k8s.handler_options").make(where, claimed, handlers)
  local registration = raw.registration.new(
    claimed,
    handlers.OnAdd,
    handlers.OnUpdate,
    handlers.OnDelete,
    handlers.OnLost,
    handlers.filter,
    handlers.id,
    made,
    handlers.leader,
    detail_of(claimed, handlers),
    handlers.wait
  )
  if task.made then
    task.made(registration, "remove")
  end
  return registration
end

-- pods:add_event_handler { OnAdd = f(obj, ev), OnUpdate = f(old, new, ev), OnDelete = f(last, ev), ... };
-- OnLost = f(last, ev) of a cache that is shared by replicas
function methods:add_event_handler(given)
  check_self(self, "add_event_handler")
  local handlers = check_options("add_event_handler", given, "WITH_FUNCTIONS")
  if not (handlers.OnAdd or handlers.OnUpdate or handlers.OnDelete or handlers.OnLost) then
    raw.raise("add_event_handler: at least one of OnAdd, OnUpdate, OnDelete and OnLost is required")
  end
  return register("add_event_handler", self, handlers)
end

-- pods:on_add(fn, options) and its sisters: one function, one event.
local function shorthand(where, event)
  return function(self, fn, given)
    check_self(self, where)
    if type(fn) ~= "function" then
      raw.raise(where .. ": expected a function, not " .. type(fn))
    end
    local handlers = { [event] = fn }
    for name, value in pairs(check_options(where, given, "KNOWN")) do
      handlers[name] = value
    end
    return register(where, self, handlers)
  end
end

methods.on_add = shorthand("on_add", "OnAdd")
methods.on_update = shorthand("on_update", "OnUpdate")
methods.on_delete = shorthand("on_delete", "OnDelete")
methods.on_lost = shorthand("on_lost", "OnLost")

-- pods:add_index(name, path) or (name, function(obj, emit)): lister:by_index(name, value) finds objects by it.
function methods:add_index(name, source)
  check_self(self, "add_index")
  raw.index.add(self, name, source)
  local own = sources[self] or {}
  sources[self], own[name] = own, source
  if is_loading() then
    local plan = require "k8s.plan"
    plan.add("index", describe(self) .. ": " .. name, plan.text(source))
  end
end

-- pods:query(): a query of the cache: where, label, namespace, group, order, limit; then count, sum, rows or each.
function methods:query()
  check_self(self, "query")
  if may_pause() then
    require "k8s.query_steps"
  end
  return raw.query.new(self)
end

local wait_synced = blocking(raw.informer.wait_synced)

-- pods:wait_for_sync(timeout): until it holds its first list (I-19); true, or nil, err that tells why not. 30 seconds
-- by default.
function methods:wait_for_sync(timeout)
  check_self(self, "wait_for_sync")
  return wait_synced(timeout or 30, false, self)
end

-- pods:stop(): of an informer that was made while the script ran. Its handlers are called no more.
function methods:stop()
  raw.registration.stop(self)
end

local wait_version = blocking(raw.informer.wait_version)

-- pods:wait_rv(version, timeout): until the cache has seen that version; true, or nil, err. 30 seconds by default.
-- pods:wait_rv(object, timeout): until it has seen that version of that object; other namespaces may be behind.
function methods:wait_rv(wanted, timeout)
  check_self(self, "wait_rv")
  if object.is_view(wanted) then
    return wait_version(self, object.resource_version(wanted), timeout or 30, object.namespace(wanted))
  end
  return wait_version(self, wanted, timeout or 30)
end

return methods
