-- Mistakes that loading found, too: its error has the line where the call begins, the source that of the option.
local loading = {}
loading.__index = loading

local options = require "tool.source.options"

-- Lines that have a finding already: the same mistake is found there again.
local function lines_of(diagnostics)
  local lines = {}
  for _, one in ipairs(diagnostics.items) do
    if one.line then lines[one.file .. ":" .. one.line] = true end
  end
  return lines
end

function loading.new(diagnostics)
  return setmetatable({ diagnostics = diagnostics, lines = lines_of(diagnostics), calls = {} }, loading)
end

-- Adds the lines of a call, without those of functions that it is given, which have mistakes of their own.
local function add_lines(node, lines)
  lines[node.line or 0] = true
  for _, child in ipairs(node.tag == "Function" and {} or node) do
    if type(child) == "table" then add_lines(child, lines) end
  end
end

-- Findings of the loading get the line of the option that they name.
local function place(self, file, node)
  for _, one in ipairs(self.diagnostics.items) do
    if one.line == node.line and one.file == file and not one.call then
      local line = options.line_of(node, one.text)
      if line and line ~= one.line then
        one.call, one.line = file .. ":" .. one.line, line
        self.lines[file .. ":" .. line] = true
      end
    end
  end
end

local function find_calls(self, file, node)
  local line = (node.tag == "Call" or node.tag == "Invoke") and file .. ":" .. node.line
  if line and self.lines[line] then
    self.calls[line] = self.calls[line] or {}
    add_lines(node, self.calls[line])
    place(self, file, node)
  end
  for _, child in ipairs(node) do
    if type(child) == "table" then find_calls(self, file, child) end
  end
end

-- To be called before findings of that file.
function loading:read(file, tree)
  if next(self.lines) then find_calls(self, file, tree) end
end

-- The option or the argument that a finding is about.
local function subject_of(text)
  return text:match "^unknown option (%S+) of " or text:match "^setting (%S+):" or text:match "^([%w_]+)"
end

local function is_about(loaded, text)
  local subject, rest = subject_of(text), text:match "^[^:]*: (.*)$"
  return subject and loaded:find("%f[%w_]" .. subject .. "%f[^%w_]") ~= nil
    or rest ~= nil and loaded:find(rest, 1, true) ~= nil
end

-- Returns whether the finding was found by loading, whose finding gets the better line.
function loading:knows(at, text)
  if self.lines[at.file .. ":" .. at.line] then return true end
  for _, one in ipairs(self.diagnostics.items) do
    local lines = one.line and one.file == at.file and not one.is_moved
      and self.calls[one.call or one.file .. ":" .. one.line]
    if lines and lines[at.line] and is_about(one.text, text) then
      one.line, one.is_moved = at.line, true
      return true
    end
  end
  return false
end

return loading
