-- Reads the sources of scripts by a parser of Lua 5.1 (luacheck's), and finds mistakes that loading does not show.
local kinds = require "tool.source.kinds"
local loading = require "tool.source.loading"
local read_stubs = require "tool.source.stubs"

local reader = {}
reader.__index = reader

local PARTS = {
  "walk", "expr", "fields", "paths", "args", "calls", "subjects", "requests", "globals", "literals", "sinks",
  "absences", "bodies", "json_patches",
}
for _, name in ipairs(PARTS) do
  for key, value in pairs(require("tool.source." .. name)) do reader[key] = value end
end

-- --- findings

function reader:error(node, ...)
  if self.reports then self.found:error({ file = self.path, line = node.line }, ...) end
end

function reader:warning(node, ...)
  if self.reports then self.found:warning({ file = self.path, line = node.line }, ...) end
end

-- ', did you mean "name"?', or nil.
function reader:meant(name, names)
  local nearest = self.target.nearest(name, names)
  return nearest and string.format(', did you mean "%s"?', nearest)
end

-- --- files

-- luacheck's parser and decoder; nil where it is not installed. The folder that is checked may be anyone's: nothing is
-- loaded from below it.
local function find_parser()
  local folders = {}
  for one in package.path:gmatch "[^;]+" do
    if one:find "^/" then folders[#folders + 1] = one end
  end
  package.path, package.cpath = table.concat(folders, ";"), ""
  local has_parser, parser = pcall(require, "luacheck.parser")
  local has_decoder, decoder = pcall(require, "luacheck.decoder")
  if has_parser and has_decoder then return parser, decoder end
end

local function tree_of(parser, decoder, text)
  text = text:gsub("^#[^\n]*", "")
  local ok, tree = pcall(function() return (parser.parse(decoder.decode(text))) end)
  return ok and tree or nil -- the error of loading has the place
end

local kept = { __index = function(_, severity)
  return function(self, at, ...)
    if self.loading:knows(at, string.format(...)) then return end
    self.diagnostics[severity](self.diagnostics, at, ...)
  end
end }

local function read(self, script, source)
  local tree = tree_of(self.parser, self.decoder, source.text)
  if not tree then return end
  local one = setmetatable({
    target = self.target, api = self.api, kinds = self.kinds, found = self.found, path = source.path,
    infos = {}, shapes = {}, assigned = {}, tested = {}, added = self.added, looked_at = {},
    given = {}, given_again = {}, sets_status = {}, is_elsewhere = {},
    reads = script.reads, paths = script.paths, writes = script.writes,
  }, reader)
  local ok, why = pcall(function()
    self.found.loading:read(source.path, tree)
    one:run(tree)
  end)
  if ok then return end
  if not tostring(why):find("stack overflow", 1, true) then error(why, 0) end
  self.found:warning({ file = source.path, line = 1 }, "expressions are nested too deeply: the source was not read")
end

-- Sources of a script that did not load: its file alone.
local function sources_of(script)
  if script.sources then return script.sources end
  local file = io.open(script.path, "rb")
  if not file then return {} end
  local text = file:read "*a"
  file:close()
  return { { path = script.path, text = text } }
end

-- What a script declares, as a text.
local function declared_text(script)
  local texts = {}
  for _, list in ipairs { script.reads or {}, script.writes or {} } do
    for _, one in ipairs(list) do texts[#texts + 1] = one.text end
    texts[#texts + 1] = ";"
  end
  for _, path in ipairs(script.paths or {}) do texts[#texts + 1] = path end
  return table.concat(texts, " ")
end

-- Scripts share modules: one is read once for all that declare the same.
local function is_read(self, script, source)
  local key = source.path .. "\n" .. declared_text(script)
  local before = self.modules[key]
  self.modules[key] = true
  return before
end

-- Returns a function (script, diagnostics) that reports what is wrong in the script's sources; nil without a parser.
return function(target)
  local parser, decoder = find_parser()
  if not parser then return nil end
  local self = {
    parser = parser, decoder = decoder, target = target, api = read_stubs(target.stubs), kinds = kinds.new(target),
    modules = {},
  }
  return function(script, diagnostics)
    self.added = {}
    self.found = setmetatable({ diagnostics = diagnostics, loading = loading.new(diagnostics) }, kept)
    for i, source in ipairs(sources_of(script)) do
      if i == 1 or not is_read(self, script, source) then read(self, script, source) end
    end
  end
end
