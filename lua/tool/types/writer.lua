-- Classes of LuaCATS: gathered by name, and printed.
local writer = {}
writer.__index = writer

function writer.new() return setmetatable({ list = {}, by_name = {} }, writer) end

-- A class of that name; nil if there is one already.
function writer:class(name, parent, text)
  if self.by_name[name] then return nil end
  local class = { name = name, parent = parent, text = text, fields = {} }
  self.by_name[name] = class
  self.list[#self.list + 1] = class
  return class
end

local function one_line(text) return text and text ~= "" and (text:gsub("%s+", " ")) or nil end

-- Names that are no identifiers are written as ["name"].
function writer.add_field(class, name, type, text)
  local key = name:find "^[%a_][%w_]*$" and name .. "?" or string.format("[%q]", name)
  text = one_line(text)
  class.fields[#class.fields + 1] = string.format("---@field %s %s%s", key, type, text and " " .. text or "")
end

-- Values of an enumeration as a type.
function writer.values(values)
  local out = {}
  for i, value in ipairs(values) do out[i] = string.format("%q", value) end
  return table.concat(out, "|")
end

-- A union in front of a suffix needs brackets.
function writer.list_of(type) return (type:find("|", 1, true) and "(" .. type .. ")" or type) .. "[]" end
function writer.map_of(type) return "table<string, " .. type .. ">" end

function writer:text(source)
  local out = { "---@meta", "-- Written by kubelua types" .. source .. ": objects of kinds.", "" }
  for _, class in ipairs(self.list) do
    local text = one_line(class.text)
    if text then out[#out + 1] = "---" .. text end
    out[#out + 1] = "---@class " .. class.name .. (class.parent and " : " .. class.parent or "")
    for _, field in ipairs(class.fields) do out[#out + 1] = field end
    out[#out + 1] = ""
  end
  return table.concat(out, "\n")
end

return writer
