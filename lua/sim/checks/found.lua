-- Findings of a check: a list of problems, each a list of a cause's type, field, detail and value, with the words of
-- apimachinery's field errors.
local forms = require "sim.checks.forms"

local found = {}
found.__index = found

function found.new() return setmetatable({}, found) end

function found:add(type, path, detail, value) self[#self + 1] = { "FieldValue" .. type, path, detail or "", value } end

function found:invalid(path, value, detail) self:add("Invalid", path, detail, value) end

function found:required(path, detail) self:add("Required", path, detail) end

function found:forbidden(path, detail) self:add("Forbidden", path, detail) end

function found:duplicate(path, value) self:add("Duplicate", path, "", value) end

function found:not_found(path, value, detail) self:add("NotFound", path, detail, value) end

function found:too_long(path, max) self:add("TooLong", path, string.format("may not be more than %d bytes", max)) end

function found:too_many(path, n, max) self:add("TooMany", path, string.format("must have at most %d items", max), n) end

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

return found
