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

-- Names that other libraries use for it, without "_".
local ELSEWHERE = { labelselector = "selector", namespace = "namespaces" }

-- Misspelt, they are near to another name.
local SPELT = { label_selector = "selector", labelSelector = "selector" }

local function with_spelt(known)
  local all = {}
  for name, what in pairs(known) do
    all[name] = what
  end
  for name, meant in pairs(SPELT) do
    all[name] = all[name] or rawget(known, meant)
  end
  return all
end

-- The known name that `name` was meant to be, or nil when none is near.
local function nearest(name, known)
  local elsewhere = ELSEWHERE[string.lower((string.gsub(name, "_", "")))]
  if elsewhere and rawget(known, elsewhere) then
    return elsewhere
  end
  local near = raw.nearest(name, with_spelt(known))
  return rawget(known, near or "") == nil and SPELT[near] or near
end

return { find = nearest, sorted = sorted_names }
