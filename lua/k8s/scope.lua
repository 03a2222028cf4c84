-- Informers, handlers and timers of a function that k8s.each_kind or k8s.each_cluster calls, and their end.
local raw = ...

local coroutines = require "k8s.coroutine"
local freeze = require("k8s.frozen").freeze
local task = require "k8s.task"

local after, running = raw.time.after, coroutine.running

local scope = {}

-- The scope of a coroutine; each function has a coroutine of its own.
local scopes = setmetatable({}, { __mode = "k" })

-- Told by those who make informers, handlers and timers; `ending` is the method that ends it.
function task.made(thing, ending)
  local self = scopes[running() or scopes]
  if not self then
    return
  end
  if self.ended then
    return thing[ending](thing)
  end
  local count = self.count
  self[count + 1], self[count + 2], self.count = thing, ending, count + 2
end

-- Has fn(value) called in a task of its own; what that makes is in the scope that is returned.
function scope.begin(fn, value)
  local self = { count = 0 }
  after(0, function()
    if self.ended then
      return
    end
    coroutines.wrap(function()
      scopes[running()] = self
      return fn(value)
    end)()
  end)
  return self
end

-- The newest first: handlers before their informer.
function scope.finish(self)
  self.ended = true
  for i = self.count, 2, -2 do
    local thing, ending = self[i - 1], self[i]
    self[i - 1], self[i] = nil, nil
    thing[ending](thing)
  end
end

-- The table with :stop() that `verb` returns: it stops the timers of `self`, and finishes each of its scopes.
function scope.handle(verb, self)
  local shown
  shown = freeze(verb, {
    stop = function(called_on)
      if called_on ~= shown then
        raw.raise(string.sub(verb, #"k8s." + 1) .. ":stop: methods are called with ':'")
      end
      self.is_over = true
      for _, timer in ipairs(self.timers) do
        timer:cancel()
      end
      for name, made_of in pairs(self.scopes) do
        self.scopes[name] = nil
        scope.finish(made_of)
      end
    end,
  })
  return shown
end

return scope
