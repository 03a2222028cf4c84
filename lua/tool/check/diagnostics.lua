-- Diagnostics of checks: gathered, in order, and printed as compilers do or as JSON.
local json = require "tool.json"

local diagnostics = {}
diagnostics.__index = diagnostics

-- Diagnostics to come are of the script of the number `script`.
local function new() return setmetatable({ items = {}, errors = 0, warnings = 0, script = 0 }, diagnostics) end

local function add(self, at, severity, text)
  local items = self.items
  local count = severity .. "s"
  items[#items + 1] = {
    file = at.file, line = at.line, severity = severity, text = text, script = self.script, number = #items,
  }
  self[count] = self[count] + 1
end

-- `at` is a place (tool.check.place); further arguments are those of string.format.
function diagnostics:error(at, ...) add(self, at, "error", string.format(...)) end
function diagnostics:warning(at, ...) add(self, at, "warning", string.format(...)) end

-- Takes "scripts/x.lua:12: ..." apart; another text is of the whole file. Names of files have no blank before the
-- number, or what stands there is no place.
function diagnostics:add_error(file, text)
  local head, rest = text:match "^(.-): (.*)$"
  local place, line = (head or ""):match "^(.*):(%d+)$"
  if place then
    add(self, { file = place, line = tonumber(line) }, "error", rest)
  else
    add(self, { file = file }, "error", text)
  end
end

-- In the order of scripts, files, lines and texts; what was found first of those that are equal.
local function comes_before(a, b)
  if a.script ~= b.script then return a.script < b.script end
  if a.file ~= b.file then return a.file < b.file end
  if a.line ~= b.line then return (a.line or 0) < (b.line or 0) end
  if a.text ~= b.text then return a.text < b.text end
  return a.number < b.number
end

local function same(a, b)
  return a and a.script == b.script and a.file == b.file and a.line == b.line and a.text == b.text
end

-- Script by script, by their lines; what was said twice once.
function diagnostics:sort()
  local kept = {}
  table.sort(self.items, comes_before)
  for _, one in ipairs(self.items) do
    if same(kept[#kept], one) then
      local count = one.severity .. "s"
      self[count] = self[count] - 1
    else
      kept[#kept + 1] = one
    end
  end
  self.items = kept
end

function diagnostics:text()
  local out = {}
  for i, one in ipairs(self.items) do
    local line = one.line and ":" .. one.line or ""
    out[i] = ("%s%s: %s: %s\n"):format(one.file, line, one.severity, one.text)
  end
  return table.concat(out)
end

-- `quote` returns a text as JSON.
function diagnostics:json(quote)
  return json.list(self.items, function(one)
    return json.object("file", quote(one.file), "line", one.line and json.integer(one.line), "severity",
      quote(one.severity), "message", quote(one.text))
  end) .. "\n"
end

return new
