-- Findings of a check: a list of problems, each a list of a cause's type, field, detail and value, with the words of
-- apimachinery's field errors.
local forms = require "sim.checks.forms"
local json = require "sim.json"

local found = {}
found.__index = found

function found.new() return setmetatable({}, found) end

function found:add(type, path, detail, value) self[#self + 1] = { "FieldValue" .. type, path, detail or "", value } end

function found:invalid(path, value, detail) self:add("Invalid", path, detail, value) end

function found:required(path, detail) self:add("Required", path, detail) end

function found:forbidden(path, detail) self:add("Forbidden", path, detail) end

function found:duplicate(path, value) self:add("Duplicate", path, "", value) end

function found:not_found(path, value, detail) self:add("NotFound", path, detail, value) end

local function counted(n, what) return string.format(n == 1 and "%d %s" or "%d %ss", n, what) end

function found:too_long(path, max) self:add("TooLong", path, "may not be more than " .. counted(max, "byte")) end

function found:too_many(path, n, max) self:add("TooMany", path, "must have at most " .. counted(max, "item"), n) end

-- One of the words, which are shown as they come.
function found:enum(path, value, words)
  for _, word in ipairs(words) do
    if word == value then return end
  end
  self:add("NotSupported", path, 'supported values: "' .. table.concat(words, '", "') .. '"', value)
end

-- A text of a form of forms.lua: a problem for each sentence.
function found:form(path, text, form, shown)
  local problems = forms[form](text)
  if not problems then return end
  for problem in (problems .. "; "):gmatch "(.-); " do self:invalid(path, shown or text, problem) end
end

-- A number in an inclusive range; without a largest one it is at least `least`.
function found:range(path, n, least, most)
  if not n or (n >= least and n <= (most or math.huge)) then return end
  self:invalid(path, n, most and string.format("must be between %d and %d, inclusive", least, most)
    or least == 0 and "must be greater than or equal to 0" or "must be greater than 0")
end

-- --- as texts

local shown = { Invalid = "Invalid value", NotSupported = "Unsupported value", NotFound = "Not found",
  Duplicate = "Duplicate value", TypeInvalid = "Invalid value", TooMany = "Too many" }
local hidden = { Required = "Required value", Forbidden = "Forbidden", TooLong = "Too long" }

-- Returns a problem as errors have it.
function found.line(problem)
  local type, value, detail = problem[1]:sub(11), problem[4], problem[3]
  local body = hidden[type] or string.format("%s: %s", shown[type], value == nil and "null" or json.dump(value))
  return string.format("%s: %s%s", problem[2], body, detail ~= "" and ": " .. detail or "")
end

-- Returns all of them as one error.
function found:lines()
  local lines = {}
  for i, problem in ipairs(self) do lines[i] = found.line(problem) end
  return #lines == 1 and lines[1] or "[" .. table.concat(lines, ", ") .. "]"
end

function found:sort()
  local lines = {}
  for _, problem in ipairs(self) do lines[problem] = found.line(problem) end
  table.sort(self, function(a, b) return lines[a] < lines[b] end)
end

function found:append(others)
  for _, problem in ipairs(others) do self[#self + 1] = problem end
end

return found
