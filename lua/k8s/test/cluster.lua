-- env:cluster(name): the clusters of a test beside the home cluster, which test.load { clusters = { name } } makes.
local raw = ...

local test = raw.test

local select = test.select

-- Has the cluster be meant; false when it is not there, or no more.
local function there(env, name)
  if type(name) == "string" and select(env.engine, name) then
    return true
  end
  select(env.engine)
  return false
end

-- The part of `env` that is about one cluster.
local METHODS = {
  "add", "apply_file", "clear_faults", "delete", "fault", "get", "kind", "list", "patch", "pod_log", "raw", "update",
}

local function finish(env, ok, ...)
  select(env.engine)
  env.selected = nil
  if not ok then
    error((...), 0)
  end
  return ...
end

local function method(env, name, key, shown)
  return function(self, ...)
    if self ~= shown then
      raw.raise("env:cluster: " .. key .. ": methods are called with ':'")
    end
    env:settle()
    if not there(env, name) then
      raw.raise(string.format('env:cluster: the cluster "%s" is gone', name))
    end
    env.selected = name
    return finish(env, pcall(env[key], env, ...))
  end
end

local function unknown(content, name)
  require "k8s.unknown"("env:cluster", name, content, "method")
end

return function(methods)
  -- One that comes while the script runs, as by a Secret, and goes.
  function methods:add_cluster(name)
    local ok, problem = test.join(self.engine, name)
    select(self.engine)
    if not ok then
      raw.raise("env:add_cluster: " .. problem)
    end
    self:settle()
    return self:cluster(name)
  end

  function methods:remove_cluster(name)
    if not test.leave(self.engine, name) then
      raw.raise(string.format('env:remove_cluster: no cluster "%s" came while the script ran', tostring(name)))
    end
    return self:settle()
  end

  function methods:cluster(name)
    if not there(self, name) then
      local text = 'env:cluster: unknown cluster "%s"; name it in test.load { clusters = { ... } }'
      raw.raise(string.format(text, tostring(name)))
    end
    select(self.engine)
    local content, shown = {}, setmetatable({}, { __index = nil })
    for _, key in ipairs(METHODS) do
      content[key] = methods[key] and method(self, name, key, shown)
    end
    return setmetatable(shown, { __index = setmetatable(content, { __index = unknown }) })
  end
end
