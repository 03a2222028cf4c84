-- A name that k8s does not have gives nil, so that scripts may ask which there are. Which was meant is noted, for the
-- report of an error about that nil. Loaded when a script first asks for such a name.
local raw = ...

local nearest = require "k8s.nearest"

local HINTS_MAX, LENGTH_MAX = 100, 60

local hints, count = {}, 0

-- `each_name(call)` calls `call` with each name there is.
local function make(name, each_name)
  local known = {}
  each_name(function(one)
    known[one] = true
  end)
  local near = nearest.find(name, known)
  return "unknown field k8s." .. name .. (near and ", did you mean k8s." .. near .. "?" or "")
end

return function(name, each_name)
  if not hints[name] and count < HINTS_MAX and #name <= LENGTH_MAX then
    hints[name], count = make(name, each_name), count + 1
  end
  raw.note_missing(name, hints[name] or "")
end
