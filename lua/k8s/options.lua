-- Options tables: every name known, every value of its type, or an error with the script's line.
local raw = ...

local options = {}

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

-- The known name that `name` was meant to be, or nil when none is near.
function options.nearest(name, known)
  local best, best_distance = nil, math.floor(#name / 2) + 1
  for _, candidate in ipairs(sorted_names(known)) do
    local d = distance(string.gsub(name, "_", ""), (string.gsub(candidate, "_", "")))
    if d < best_distance then
      best, best_distance = candidate, d
    end
  end
  return best
end

local function unknown(where, name, known)
  local quoted = type(name) == "string" and '"' .. name .. '"' or tostring(name)
  local text = where .. ": unknown option " .. quoted
  local near = type(name) == "string" and options.nearest(name, known)
  if near then
    raw.raise(text .. ', did you mean "' .. near .. '"?')
  end
  raw.raise(text .. ", known are " .. table.concat(sorted_names(known), ", "))
end

-- What may be a duration, an informer or an object; whether it is one is the verb's to say.
local FORMS = {
  duration = { number = true, string = true },
  ["kind or informer"] = { string = true, userdata = true },
  ["table or path"] = { table = true, string = true },
  time = { number = true, string = true },
  ["view or reference"] = { table = true, userdata = true },
}

-- `known` maps each option to the type its value must have. A missing table is an empty one.
function options.check(where, given, known)
  if given == nil then
    return {}
  end
  if type(given) ~= "table" then
    raw.raise(where .. ": options must be a table, not " .. type(given))
  end
  for name, value in pairs(given) do
    local expected = known[name]
    if not expected then
      unknown(where, name, known)
    end
    local fits = type(value) == expected or FORMS[expected] and FORMS[expected][type(value)]
    if not fits then
      raw.raise(where .. ": " .. name .. " must be a " .. expected .. ", not " .. type(value))
    end
  end
  return given
end

-- Tables of known options that share some.
function options.extend(known, more)
  local all = {}
  for _, part in ipairs { known, more } do
    for name, expected in pairs(part) do
      all[name] = expected
    end
  end
  return all
end

-- What declarations take: an array of texts, each of which goes to `take`.
function options.each_text(where, declared, take)
  if type(declared) ~= "table" then
    raw.raise(where .. ": expected a table, not " .. type(declared))
  end
  for key in pairs(declared) do
    if type(key) ~= "number" then
      raw.raise(where .. ": expected an array of texts, not the key " .. tostring(key))
    end
  end
  for _, text in ipairs(declared) do
    take(text)
  end
end

return options
