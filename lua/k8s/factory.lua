-- k8s.informer and k8s.factory: which objects a script watches, and what is kept of them.
local raw = ...

local freeze = require("k8s.frozen").freeze
local handler_options = require "k8s.handler_options"
local options = require "k8s.options"
local plan = require "k8s.plan"
require "k8s.informer" -- the methods of what is claimed

local task = require "k8s.task"
local is_loading = raw.plan.is_open

local check_informer = task.blocking(raw.kinds.check_informer)
local wait_synced = task.blocking(raw.informer.wait_synced)

local factory = {}

-- Of what a factory shows: a misspelt method is told as one, not as a nil that was called.
local function unknown_method(content, name)
  require "k8s.unknown"("factory", name, content, "method")
end

-- Of informers, and of factories as defaults.
local OPTIONS = {
  namespace = "string",
  namespaces = "table",
  selector = "string",
  field_selector = "string",
  fields = "table",
  prune = "table",
  metadata_only = "boolean",
  shard = "boolean or text",
  resync = "duration",
}

-- An informer with a transform belongs to its script; no factory gives one to all its informers.
local INFORMER_OPTIONS = options.extend(OPTIONS, { transform = "function" })

local function check_kind(kind)
  if type(kind) ~= "string" then
    raw.raise("k8s.informer: the kind must be a string, not " .. type(kind))
  end
end

-- { selectr = "a=b" } is meant to be { selector = "a=b" }, not a list. Of several the first by name is told.
local function check_namespaces(where, given)
  local wrong
  for key in pairs(given) do
    if type(key) == "string" and key ~= "selector" and (not wrong or key < wrong) then
      wrong = key
    end
  end
  if wrong then
    require "k8s.unknown"(where .. ": namespaces", wrong, { selector = "string" })
  end
end

local function check(where, given, known)
  local own = options.check(where, given, known)
  if type(own.shard) == "string" and own.shard ~= "uid" and own.shard ~= "namespace" then
    raw.raise(where .. ': shard must be true, false, "uid" or "namespace", not "' .. own.shard .. '"')
  end
  if own.namespace and own.namespaces then
    raw.raise(where .. ": namespace and namespaces are mutually exclusive")
  elseif own.namespaces then
    check_namespaces(where, own.namespaces)
  end
  return own
end

-- Options that an informer does not set are the factory's.
local function merge(own, defaults)
  local merged = {}
  local scoped = own.namespace or own.namespaces
  for name in pairs(OPTIONS) do
    merged[name] = own[name]
    if own[name] == nil and not (scoped and (name == "namespace" or name == "namespaces")) then
      merged[name] = defaults[name]
    end
  end
  return merged
end

-- Checks that a running script declared the kind, and the namespaces if its informer follows them. The table is copied,
-- so that what is checked is what is used.
local function check_running(kind, merged, cluster)
  local has_namespaces = check_informer(kind, cluster)
  if type(merged.namespaces) ~= "table" then
    return
  end
  local copy = {}
  for key, value in pairs(merged.namespaces) do
    copy[key] = value
  end
  merged.namespaces = copy
  if copy.selector ~= nil then
    if has_namespaces == false then
      raw.raise("k8s.informer: " .. kind .. " are not namespaced, so namespaces.selector cannot choose any")
    end
    check_informer("namespaces", cluster)
  end
end

-- Of a running script the plan has what k8s.reads declared.
local function claim(defaults, kind, given, cluster)
  check_kind(kind)
  local own = check("k8s.informer", given, INFORMER_OPTIONS)
  local merged = merge(own, defaults)
  merged.transform = own.transform
  if not is_loading() then
    check_running(kind, merged, cluster)
  end
  local claimed = raw.informer.claim(kind, merged, cluster)
  if is_loading() then
    plan.add("informer", raw.informer.describe(claimed), plan.text { resync = merged.resync })
  end
  handler_options.set_default_resync("k8s.informer", claimed, merged.resync)
  if task.made and not is_loading() then
    task.made(claimed, "stop")
  end
  return claimed
end

-- k8s.informer(kind, options): the cache of one kind, kept up to date. What a running script makes has :stop().
function factory.informer(kind, given)
  return claim({}, kind, given, task.cluster())
end

-- k8s.factory { namespace, selector, ... }: informers with options in common. While the script loads only.
function factory.factory(given)
  raw.check_loading "k8s.factory"
  local defaults = merge(check("k8s.factory", given, OPTIONS), {})
  local informers, cluster = {}, task.cluster()
  local self

  local function check_self(called_on, name)
    if called_on ~= self then
      raw.raise("factory:" .. name .. ": methods are called with ':'")
    end
  end

  self = freeze("factory", setmetatable({
    informer = function(called_on, kind, own)
      check_self(called_on, "informer")
      raw.check_loading "factory:informer"
      local made = claim(defaults, kind, own, cluster)
      informers[#informers + 1] = made
      return made
    end,
    -- Until all its informers hold their first lists (I-19, F-6): true, or nil, err that tells why not. 30 seconds by
    -- default.
    wait_for_cache_sync = function(called_on, timeout)
      check_self(called_on, "wait_for_cache_sync")
      return wait_synced(timeout or 30, true, unpack(informers))
    end,
  }, { __index = unknown_method }))
  return self
end

return factory
