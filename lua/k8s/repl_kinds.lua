-- The kinds that a prompt knows: each with a cache that is filled when it is first asked for, or, over an engine, with
-- one of those that its scripts have.
local raw = ...

local wait_synced = require("k8s.task").blocking(raw.informer.wait_synced)

local next_change = require("k8s.task").blocking(raw.repl.change)
local table_of = require("k8s.task").blocking(raw.live.table)

local claim = raw.informer.claim
local own, methods, nearest = raw.repl, require "k8s.informer", require "k8s.nearest"
local resource_of = require("k8s.live").resource_of
local find, format = string.find, string.format

local SYNC_SECONDS = 30

-- --- kinds

local Kind = {} -- the methods of a kind
local shown = setmetatable({}, { __mode = "k" }) -- a kind to what it holds
local known = {} -- by the name as typed, and by the server's

-- Returns the cache that a kind reads. A cache that was read stays until the prompt ends.
local function open(entry)
  if not entry.cache then
    local informer = claim(entry.name, {})
    own.claimed()
    return informer
  end
  local informer = own.cache(entry.cache)
  if not informer then
    raw.raise(entry.cache .. ": the engine no longer has this cache")
  end
  return informer
end

local function informer_of(self, name)
  local entry = shown[self]
  if not entry then
    raw.raise(name .. ": methods are called with ':'")
  end
  entry.informer = entry.informer or open(entry)
  if not entry.synced then
    local ok, err = wait_synced(SYNC_SECONDS, false, entry.informer)
    if not ok then
      raw.raise(tostring(err))
    end
    entry.synced = true
  end
  return entry.informer
end

function Kind:informer()
  return informer_of(self, "informer")
end

function Kind:lister()
  return methods.lister(informer_of(self, "lister"))
end

-- The caches of an engine are read in steps.
if own.caches then
  require "k8s.query_steps"
end

function Kind:list(selector)
  if own.caches then
    local query = Kind.query(self)
    return (selector == nil and query or query:label(selector)):rows()
  end
  return Kind.lister(self):list_all(selector)
end

function Kind:get(key)
  return Kind.lister(self):get(key)
end

function Kind:count(selector)
  if own.caches and selector ~= nil then
    return Kind.query(self):label(selector):count()
  end
  return Kind.lister(self):count(selector)
end

function Kind:query()
  return methods.query(informer_of(self, "query"))
end

-- for event, object in pods:watch(query) do: changes from now on of the objects that the query selects, or of all;
-- event is "add", "update" or "delete". Called with "now", the iterator does not wait.
function Kind:watch(query)
  own.watch(informer_of(self, "watch"), query or Kind.query(self))
  return function(state)
    return next_change(state == "now")
  end
end

-- pods:table { namespace =, name =, selector =, continue = }: the Table of the server, as it prints these objects to
-- kubectl, 500 at a time; or nil, err.
function Kind:table(given)
  local entry, of = shown[self], given or {}
  local resource, err = resource_of("k8s.list", entry.name)
  if not resource then
    return nil, err
  end
  return table_of(resource, of.namespace or entry.namespace, of.name, of.selector, of.continue)
end

function Kind:status()
  return methods.status(informer_of(self, "status"))
end

local kind_meta = { __metatable = "kind", __call = Kind.list }

local OF_QUERIES = { where = true, label = true, group = true, order = true, limit = true, sum = true, rows = true }

local function refuse(entry, key)
  if OF_QUERIES[key] then
    raw.raise(format("%s: unknown method %s, which a query has: %s:query():%s(...)", entry.name, key, entry.name, key))
  end
  local near = type(key) == "string" and nearest.find(key, Kind)
  local hint = near and format(", did you mean %s? For", near) or "; for"
  local one = format("%s[\"%s\"]", entry.name, entry.namespaced and "namespace/name" or "name")
  raw.raise(format("%s: unknown method %s%s one object, use %s", entry.name, tostring(key), hint, one))
end

-- pods["shop/web"], pods.list
function kind_meta.__index(self, key)
  if Kind[key] then
    return Kind[key]
  end
  local entry = shown[self]
  if type(key) ~= "string" or entry.namespaced and not find(key, "/", 1, true) then
    refuse(entry, key)
  end
  return (Kind.get(self, key))
end

function kind_meta.__newindex(self)
  raw.raise(shown[self].name .. " cannot be changed")
end

function kind_meta.__tostring(self)
  return "kind " .. shown[self].name
end

-- The kind that reads this, which stays the same.
local function kind_of(key, entry)
  local kind = known[key]
  if not kind then
    kind = setmetatable({}, kind_meta)
    shown[kind] = entry
    known[key] = kind
  end
  return kind
end

-- --- over an engine

local function names_of(caches)
  local names = {}
  for i, cache in ipairs(caches) do
    names[i] = format("kind %q", cache.name)
  end
  return table.concat(names, ", ")
end

-- Of several caches of a kind the one of all its objects is meant.
local function choose(canonical, caches)
  for _, cache in ipairs(caches) do
    if cache.name == canonical or #caches == 1 then
      return cache
    end
  end
  if #caches == 0 then
    local problem = "%s: the engine has no cache of this kind; use k8s.list(%q) to query the server"
    return nil, format(problem, canonical, canonical)
  end
  return nil, format("%s: the engine has %d caches of this kind: %s", canonical, #caches, names_of(caches))
end

local function cache_named(name)
  local caches, of_kind = own.caches(), {}
  for _, cache in ipairs(caches) do
    if cache.name == name then
      return cache
    end
  end
  local canonical, why, undecided = own.resolve(name)
  if not canonical then
    return nil, why, undecided
  end
  for _, cache in ipairs(caches) do
    if cache.kind == canonical then
      of_kind[#of_kind + 1] = cache
    end
  end
  local cache, problem = choose(canonical, of_kind)
  return cache, problem, true
end

local function kind_of_cache(name)
  local cache, why, is_kind = cache_named(name)
  if not cache then
    return nil, why, is_kind
  end
  if cache.transformed then
    return nil, cache.name .. ": caches with a transform are private to their script", true
  end
  local kind = kind_of(cache.name, {
    name = cache.kind,
    cache = cache.name,
    namespaced = cache.namespaced,
    namespace = cache.namespace,
  })
  known[name] = kind
  return kind
end

local function describe_caches()
  local lines = {}
  for i, cache in ipairs(own.caches()) do
    lines[i] = format("%-40s %8d%s", cache.name, cache.objects, cache.synced and "" or "  not synced")
  end
  return #lines > 0 and table.concat(lines, "\n") or "# the engine has no caches"
end

-- --- for repl.lua

local hides = false

-- From now on, whether Secrets are refused.
local function hide_secrets(hide) hides = hide end

-- Raises if a kind, named as the server names it, is one that is hidden.
local function check_hidden(canonical)
  if hides and canonical == "secrets" then
    raw.raise "secrets are hidden; --show-secrets shows them"
  end
end

-- Likewise for a function `where` and any name of a kind: one that means nothing now may be a hidden one's.
local function check_hidden_name(where, name)
  if not hides then
    return
  end
  local canonical, why = own.resolve(name)
  if not canonical then
    raw.raise(where .. ": " .. why)
  end
  check_hidden(canonical)
end

-- The kind of that name; nil, why, and whether there is such a kind, or may be, as the server has not told its kinds.
local function named(name)
  if own.caches then
    local kind, why, is_kind = kind_of_cache(name)
    if kind then
      check_hidden(shown[kind].name)
    end
    return kind, why, is_kind
  end
  if not known[name] then
    local canonical, namespaced = own.resolve(name)
    if not canonical then
      return nil, namespaced, false
    end
    known[name] = kind_of(canonical, { name = canonical, namespaced = namespaced })
  end
  return known[name]
end

-- Returns the names that kinds may have: those of the server, or of the caches.
local function names()
  if not own.caches then
    return own.kinds()
  end
  local list = {}
  for i, cache in ipairs(own.caches()) do
    list[i] = cache.name
  end
  return list
end

return {
  check_hidden = check_hidden,
  check_hidden_name = check_hidden_name,
  hide_secrets = hide_secrets,
  named = named,
  names = names,
  describe_caches = describe_caches,
  known = known,
  methods = Kind,
  shown = shown,
}
