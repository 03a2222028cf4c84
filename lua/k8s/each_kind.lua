-- k8s.each_kind: a function for each kind that the server serves, now and later. What it makes ends with the kind.
local raw = ...

local filter_of = require "k8s.kinds"
local options = require "k8s.options"
local plan = require "k8s.plan"
local scope = require "k8s.scope"
local task = require "k8s.task"

local after, every, list = raw.time.after, raw.time.every, task.blocking(raw.kinds.list)
local WHERE = "k8s.each_kind"

local function begin(self, kind)
  self.scopes[kind.name] = scope.begin(self.fn, kind)
end

-- A kind that is missing while some groups do not respond may still be there.
local function compare(self, kinds, is_whole)
  local served = {}
  for _, kind in ipairs(kinds) do
    served[kind.name] = true
    if not self.scopes[kind.name] then
      begin(self, kind)
    end
  end
  for name, made_of in pairs(self.scopes) do
    if is_whole and not served[name] then
      self.scopes[name] = nil
      scope.finish(made_of)
    end
  end
end

-- The engine itself reports a server that does not respond.
local RETRY = "5s"

local look

function look(self)
  if self.is_looking or self.is_over then
    return
  end
  self.is_looking = true
  local kinds, err = list(self.group, self.verb, self.namespaced, WHERE, self.cluster, self.period)
  self.is_looking = false
  if self.is_over then
    return
  end
  if kinds then
    return compare(self, kinds, err == nil)
  end
  if not self.is_retrying then
    self.is_retrying = true
    after(RETRY, function()
      self.is_retrying = false
      look(self)
    end)
  end
end

-- How many the script has made while it loaded, by their names in the plan.
local made = {}

-- "each kind *.example.com list"; nil once the script has loaded.
local function name_of(self)
  if not plan.is_open() then
    return nil
  end
  local cluster = self.cluster and self.cluster .. ": " or ""
  local name = "each kind " .. cluster .. (self.group or "*") .. (self.verb and " " .. self.verb or "")
  made[name] = (made[name] or 0) + 1
  return made[name] > 1 and name .. "#" .. made[name] or name
end

local function start(self, period)
  local name = name_of(self)
  local function again()
    look(self)
  end
  local timer = every(period, again, false, name, WHERE .. ": every")
  self.period, self.timers = period, { after(0, again, false, name and name .. " (first)"), timer }
  if name then
    plan.add("timer", name, plan.text { self.fn, every = period, namespaced = self.namespaced })
  end
end

-- k8s.each_kind({ group = "*.example.com", verb = "list" }, fn, { every = "30s" }): fn(kind) for each kind, in a task
-- of its own. Returns a table with :stop().
return function(filter, fn, given)
  local self = options.check(WHERE, filter, filter_of.FILTER)
  local own = options.check(WHERE, given, { every = "duration" })
  raw.kinds.check(self.group, self.verb, self.namespaced, WHERE)
  if type(fn) ~= "function" then
    raw.raise(WHERE .. ": expected a function, not " .. type(fn))
  end
  self.fn, self.scopes, self.cluster = fn, {}, task.cluster()
  start(self, own.every or "30s")
  return scope.handle(WHERE, self)
end
