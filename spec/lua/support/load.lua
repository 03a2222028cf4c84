-- Loads modules of lua/k8s as the engine does, with verbs that a spec made up: load("k8s.options", raw).
-- Modules that one loader loaded see each other.
local function new_loader(raw)
  local loaded = {}
  local env = setmetatable({}, { __index = _G })

  local function load_module(name)
    if loaded[name] == nil then
      local path = "lua/" .. name:gsub("%.", "/")
      local file = io.open(path .. ".lua") and path .. ".lua" or path .. "/init.lua"
      local chunk = assert(loadfile(file))
      loaded[name] = setfenv(chunk, env)(raw)
    end
    return loaded[name]
  end

  env.require = load_module
  return load_module
end

return new_loader
