-- Label selectors.
local selectors = {}

local function contains(list, value)
  for _, item in ipairs(list or {}) do
    if item == value then return true end
  end
  return false
end

local operators = {
  In = function(value, list) return value ~= nil and contains(list, value) end,
  NotIn = function(value, list) return value == nil or not contains(list, value) end,
  Exists = function(value) return value ~= nil end,
  DoesNotExist = function(value) return value == nil end,
  Gt = function(value, list) return (tonumber(value) or -math.huge) > tonumber(list[1]) end,
  Lt = function(value, list) return (tonumber(value) or math.huge) < tonumber(list[1]) end,
}

-- Whether the map has all pairs of `wanted`; no map has those of nil.
function selectors.has(map, wanted)
  if not wanted then return false end
  for name, value in pairs(wanted) do
    if not map or map[name] ~= value then return false end
  end
  return true
end

-- Whether the map fits a list of expressions, as those of selectors and affinities.
function selectors.fits(map, expressions)
  for _, e in ipairs(expressions or {}) do
    if not operators[e.operator]((map or {})[e.key], e.values) then return false end
  end
  return true
end

-- Whether a LabelSelector matches the labels; an empty one matches everything, nil nothing.
function selectors.matches(labels, selector)
  if not selector then return false end
  return selectors.has(labels, selector.matchLabels or {}) and selectors.fits(labels, selector.matchExpressions)
end

return selectors
