-- Globals: those that scripts have, and those that are there by mistake.
local types = require "tool.source.types"

local globals = {}

local function set(text)
  local names = {}
  for name in text:gmatch "%S+" do names[name] = true end
  return names
end

-- As core/script/lib/sandbox.c lets them be; a spec compares them.
globals.NAMES = set [[_G _VERSION assert bit collectgarbage coroutine error getmetatable ipairs load math next os
  pairs pcall print rawequal rawget rawset require select setmetatable string table tonumber tostring type unpack
  xpcall]]
globals.LIBRARIES = {
  os = set "clock date difftime time",
  string = set "byte char find format gmatch gsub len lower match rep reverse sub upper",
  table = set "concat foreach foreachi getn insert maxn move remove sort",
  coroutine = set "create isyieldable resume running status wrap yield",
  math = set [[abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow
    rad random randomseed sin sinh sqrt tan tanh]],
}
-- Lua has them, scripts do not.
local ABSENT = set "io debug ffi jit package dofile loadfile loadstring getfenv setfenv module newproxy arg"

local function sorted(...)
  local names = {}
  for _, list in ipairs { ... } do
    for name in pairs(list) do names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function locals(self)
  local names = {}
  local scope = self.scope
  while scope do
    for name in pairs(scope.vars) do names[name] = true end
    scope = scope.parent
  end
  return names
end

function globals:global(node)
  local name = node[1]
  if globals.NAMES[name] or self.assigned[name] then return types.ANY end
  if ABSENT[name] then
    if self.testing == node then return types.NIL end
    self:error(node, "%s does not exist in scripts", name)
  else
    self:error(node, "unknown global %s%s", name, self:meant(name, sorted(locals(self), globals.NAMES)) or "")
  end
  return types.ANY
end

function globals:assign_global(node)
  local name = node[1]
  self.assigned[name] = true
  self:warning(node, "%s is a global by mistake: write local %s", name, name)
end

function globals:check_library(node, library, name)
  local names = globals.LIBRARIES[library]
  if not names or not name or names[name] then return end
  local advice = library == "os" and name == "getenv" and "; settings come from k8s.params" or
    self:meant(name, sorted(names)) or ""
  self:error(node, "%s.%s does not exist in scripts%s", library, name, advice)
end

return globals
