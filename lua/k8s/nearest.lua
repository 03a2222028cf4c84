-- The name that was meant by one that does not exist. Loaded when there is one.

-- Edits (insert, drop, replace) from `a` to `b`, capitals apart.
local function distance(a, b)
  a, b = string.lower(a), string.lower(b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local above = row[j]
      local same = string.byte(a, i) == string.byte(b, j)
      row[j] = math.min(above + 1, row[j - 1] + 1, diagonal + (same and 0 or 1))
      diagonal = above
    end
  end
  return row[#b]
end

local function sorted_names(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- What others call it.
local ELSEWHERE = { labelselector = "selector", namespace = "namespaces" }

-- The known name that `name` was meant to be, or nil when none is near.
local function nearest(name, known)
  local elsewhere = ELSEWHERE[string.lower((string.gsub(name, "_", "")))]
  if elsewhere and rawget(known, elsewhere) then
    return elsewhere
  end
  local best, best_distance = nil, math.floor(#name / 2) + 1
  for _, candidate in ipairs(sorted_names(known)) do
    local d = distance(string.gsub(name, "_", ""), (string.gsub(candidate, "_", "")))
    if d < best_distance then
      best, best_distance = candidate, d
    end
  end
  return best
end

return { find = nearest, sorted = sorted_names }
