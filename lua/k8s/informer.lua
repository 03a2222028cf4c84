-- The methods of informers: the functions that are told of objects.
local raw = ...

local options = require "k8s.options"

local HANDLER_OPTIONS = { OnAdd = "function", OnUpdate = "function", OnDelete = "function", id = "string" }
local SHORTHAND_OPTIONS = { id = "string" }

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

return methods
