-- The error of an option, or of what else has a name, that does not exist: it names the nearest that does. Loaded when
-- there is one.
local raw = ...

local nearest = require "k8s.nearest"

return function(where, name, known, what)
  local plain = type(name) == "number" or type(name) == "boolean"
  local quoted = type(name) == "string" and '"' .. name .. '"' or plain and tostring(name) or "of a " .. type(name)
  local text = where .. ": unknown " .. (what or "option") .. " " .. quoted
  local near = type(name) == "string" and nearest.find(name, known)
  if near then
    raw.raise(text .. ', did you mean "' .. near .. '"?')
  end
  local names = table.concat(nearest.sorted(known), ", ")
  raw.raise(text .. (names == "" and ", there are none" or ", known are " .. names))
end
