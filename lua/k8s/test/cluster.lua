-- env:cluster(name): the clusters of a test beside the home cluster, which test.load { clusters = { name } } makes.
local raw = ...

local select = raw.test.select

-- What is about one cluster.
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
    select(env.engine, name)
    env.selected = name
    return finish(env, pcall(env[key], env, ...))
  end
end

local function unknown(content, name)
  require "k8s.unknown"("env:cluster", name, content, "method")
end

return function(methods)
  function methods:cluster(name)
    if type(name) ~= "string" or not select(self.engine, name) then
      select(self.engine)
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
