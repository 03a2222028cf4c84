-- k8s.each_cluster: a function for each cluster, now and later. What it makes ends with the cluster.
local raw = ...

local cluster_of = require "k8s.cluster"
local plan = require "k8s.plan"
local scope = require "k8s.scope"

local after, every = raw.time.after, raw.time.every
local changes, names_of = raw.cluster.changes, raw.cluster.names
local WHERE = "k8s.each_cluster"

-- How soon a cluster is noticed; the engine itself knows at once.
local PERIOD = "1s"

-- A cluster that went and came again is another one.
local function compare(self, names, ids)
  local there = {}
  for i, name in ipairs(names) do
    there[name] = ids[i]
  end
  for name, made_of in pairs(self.scopes) do
    if there[name] ~= self.ids[name] then
      self.scopes[name] = nil
      scope.finish(made_of)
    end
  end
  for i, name in ipairs(names) do
    if not self.scopes[name] then
      self.ids[name], self.scopes[name] = ids[i], scope.begin(self.fn, cluster_of(name))
    end
  end
end

local function look(self)
  local now = changes()
  if self.is_over or now == self.seen then
    return
  end
  self.seen = now
  compare(self, names_of())
end

-- How many the script has made while it loaded.
local made = 0

local function name_in_plan()
  if not plan.is_open() then
    return nil
  end
  made = made + 1
  return made > 1 and "each cluster#" .. made or "each cluster"
end

-- k8s.each_cluster(fn): fn(cluster) for each cluster, in a task of its own. Returns a table with :stop().
return function(fn)
  if type(fn) ~= "function" then
    raw.raise(WHERE .. ": expected a function, not " .. type(fn))
  end
  local self, name = { fn = fn, scopes = {}, ids = {} }, name_in_plan()
  local function again()
    look(self)
  end
  self.timers = { after(0, again, false, name and name .. " (first)"), every(PERIOD, again, false, name) }
  if name then
    plan.add("timer", name, plan.text { fn })
  end
  return scope.handle(WHERE, self)
end
