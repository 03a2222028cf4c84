-- k8s.controller: a work queue of the keys of one kind, fed by that kind, by what its objects own, and by whatever
-- else concerns them. Level-triggered: `reconcile` is told which object to look at, not what happened.
local raw = ...

local freeze = require("k8s.frozen").freeze
local informer = require("k8s.factory").informer
local options = require "k8s.options"
local plan = require "k8s.plan"
local queue = require "k8s.queue"

local KNOWN = options.extend(
  queue.KNOWN,
  { of = "kind or informer", owns = "table", watches = "table", reconcile = "function" }
)

local resource_of, each, namespace_of = raw.informer.resource, raw.view.ipairs, raw.object.namespace

local function informer_of(kind)
  if type(kind) == "string" then
    return informer(kind)
  end
  resource_of(kind) -- raises when it is none
  return kind
end

local function check_owns(given)
  local owns = {}
  for key in pairs(given) do
    if type(key) ~= "number" then
      raw.raise("k8s.controller: owns must be a list of kinds or informers, found the key " .. tostring(key))
    end
  end
  for i, entry in ipairs(given) do
    if type(entry) == "table" then
      entry = require("k8s.related").check_index(entry)
    elseif type(entry) ~= "string" and type(entry) ~= "userdata" then
      raw.raise "k8s.controller: owns must be a list of kinds or informers"
    end
    owns[i] = entry
  end
  return owns
end

local function check(given)
  local own = options.check("k8s.controller", given, KNOWN)
  for _, name in ipairs { "of", "reconcile" } do
    if own[name] == nil then
      raw.raise("k8s.controller: " .. name .. " is missing")
    end
  end
  own.owns = check_owns(own.owns or {})
  for kind, map in pairs(own.watches or {}) do
    if type(kind) == "number" or type(map) ~= "function" and type(map) ~= "string" then
      raw.raise("k8s.controller: watches must have kinds or informers as keys and functions or paths as values")
    elseif type(map) == "string" then
      require("k8s.related").check_path(map)
    end
  end
  return own
end

local function new_queue(own, owner)
  local given = { name = resource_of(owner) }
  for name in pairs(queue.KNOWN) do
    if own[name] ~= nil then
      given[name] = own[name]
    end
  end
  return queue.new_of_controller(given)
end

-- The key of the object that controls `object`, if it is of the controller's kind. An owner lives in the namespace of
-- what it owns, or in none.
local function controller_of(owner)
  return function(object)
    local _, group, kind, namespaced = resource_of(owner)
    local references = object.metadata.ownerReferences
    if not references then
      return
    end
    for _, reference in each(references) do
      local owner_group = string.match(reference.apiVersion, "^(.*)/") or ""
      if reference.controller and reference.kind == kind and owner_group == group then
        return namespaced and namespace_of(object) .. "/" .. reference.name or reference.name
      end
    end
  end
end

-- A controller that leads is told of the whole cache when its term begins, and one whose `reconcile` a reload changed
-- when it takes over: all that the old one did may be wrong by now.
local function feed(from, enqueue, own)
  plan.calls(enqueue, own.reconcile)
  from:add_event_handler { OnAdd = enqueue, OnUpdate = enqueue, OnDelete = enqueue, leader = own.leader }
end

-- Names in order, so that handlers are the same ones at each start.
local function sorted(watches)
  local kinds = {}
  for kind in pairs(watches) do
    kinds[#kinds + 1] = kind
  end
  table.sort(kinds, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return kinds
end

-- Feeds the queue with keys that `map` makes of objects.
local function feed_related(from, keys, map, own, what)
  feed(from, queue.mapper(keys, map, what), own)
end

local function feed_owned(entry, owner, keys, own)
  local is_index = type(entry) == "table"
  local from = is_index and informer_of(entry.of) or informer_of(entry)
  local map = is_index and require("k8s.related").by_index(owner, entry) or controller_of(owner)
  feed_related(from, keys, map, own, "k8s.controller: owns")
end

-- k8s.controller { of, owns, watches, reconcile = function(key, job) end, and the options of k8s.queue }. While the
-- script loads only.
return function(given)
  local own = check(given)
  local owner = informer_of(own.of)
  local keys = new_queue(own, owner)
  feed(owner, keys:enqueuer(), own)
  for _, entry in ipairs(own.owns) do
    feed_owned(entry, owner, keys, own)
  end
  for _, kind in ipairs(sorted(own.watches or {})) do
    local from, map = informer_of(kind), own.watches[kind]
    local what = string.format("k8s.controller: the function for %s in watches", resource_of(from))
    feed_related(from, keys, type(map) == "string" and require("k8s.related").at_path(owner, map) or map, own, what)
  end
  keys:run(own.reconcile)
  return freeze("controller", { informer = owner, queue = keys })
end
