-- The name that was meant by one that does not exist. Loaded when there is one.
local raw = ...

local function sorted_names(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- Names that other libraries use for it.
local ELSEWHERE = { labelselector = "selector", namespace = "namespaces" }

-- The known name that `name` was meant to be, or nil when none is near.
local function nearest(name, known)
  local elsewhere = ELSEWHERE[string.lower((string.gsub(name, "_", "")))]
  if elsewhere and rawget(known, elsewhere) then
    return elsewhere
  end
  return raw.nearest(name, known)
end

return { find = nearest, sorted = sorted_names }
