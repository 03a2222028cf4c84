-- k8s.informer and k8s.factory: which objects a script watches, and the functions that are told of them.
local raw = ...

local freeze = require("k8s.frozen").freeze
local options = require "k8s.options"

local informer = {}

local INFORMER_OPTIONS = { namespace = "string", selector = "string", field_selector = "string" }
local FACTORY_OPTIONS = { namespace = "string", selector = "string" }
local HANDLER_OPTIONS = { OnAdd = "function", OnUpdate = "function", OnDelete = "function", id = "string" }
local SHORTHAND_OPTIONS = { id = "string" }

local function check_kind(kind)
  if type(kind) ~= "string" then
    raw.raise("k8s.informer: the kind must be a string, not " .. type(kind))
  end
end

-- What an informer does not say of itself is the factory's.
local function claim(defaults, kind, given)
  check_kind(kind)
  local own = options.check("k8s.informer", given, INFORMER_OPTIONS)
  return raw.informer.claim(
    kind,
    own.namespace or defaults.namespace,
    own.selector or defaults.selector,
    own.field_selector
  )
end

-- k8s.informer(kind, options): the cache of one kind, kept up to date. While the script loads only.
function informer.informer(kind, given)
  return claim({}, kind, given)
end

-- k8s.factory { namespace, selector }: informers with options in common.
function informer.factory(given)
  local checked = options.check("k8s.factory", given, FACTORY_OPTIONS)
  local defaults = { namespace = checked.namespace, selector = checked.selector }
  local self
  self = freeze("factory", {
    informer = function(factory, kind, own)
      if factory ~= self then
        raw.raise("factory:informer: methods are called with ':'")
      end
      return claim(defaults, kind, own)
    end,
  })
  return self
end

local methods = raw.informer.methods

-- pods:add_event_handler { OnAdd = f(obj, ev), OnUpdate = f(old, new, ev), OnDelete = f(last, ev), id = "x" }
function methods:add_event_handler(given)
  local handlers = options.check("add_event_handler", given, HANDLER_OPTIONS)
  if not (handlers.OnAdd or handlers.OnUpdate or handlers.OnDelete) then
    raw.raise("add_event_handler: give OnAdd, OnUpdate or OnDelete")
  end
  return raw.registration.new(self, handlers.OnAdd, handlers.OnUpdate, handlers.OnDelete, handlers.id)
end

local function check_function(where, fn)
  if type(fn) ~= "function" then
    raw.raise(where .. ": expected a function, not " .. type(fn))
  end
end

-- pods:on_add(fn, options) and its sisters: one function, one event.
function methods:on_add(fn, given)
  check_function("on_add", fn)
  return raw.registration.new(self, fn, nil, nil, options.check("on_add", given, SHORTHAND_OPTIONS).id)
end

function methods:on_update(fn, given)
  check_function("on_update", fn)
  return raw.registration.new(self, nil, fn, nil, options.check("on_update", given, SHORTHAND_OPTIONS).id)
end

function methods:on_delete(fn, given)
  check_function("on_delete", fn)
  return raw.registration.new(self, nil, nil, fn, options.check("on_delete", given, SHORTHAND_OPTIONS).id)
end

-- pods:add_index(name, path) or (name, function(obj, emit)): lister:by_index(name, value) finds objects by it.
function methods:add_index(name, source)
  return raw.index.add(self, name, source)
end

return informer
