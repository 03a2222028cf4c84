-- The canonical texts of a script's plan: what is the same has the same text, in every process.
local raw = ...

local plan = { is_open = raw.plan.is_open, add = raw.plan.add }

local DEPTH_MAX = 20

-- Functions of ours that call those of a script: their code is always the same, and what counts is that of the others.
local called = setmetatable({}, { __mode = "k" })

local put

-- Keys of a table: numbers first, in order.
local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    local ta, tb = type(a), type(b)
    if ta ~= tb then
      return ta < tb
    end
    if ta == "number" or ta == "string" then
      return a < b
    end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local function put_table(out, value, depth)
  if depth > DEPTH_MAX then
    raw.raise("options are nested deeper than " .. DEPTH_MAX .. " tables")
  end
  out[#out + 1] = "{"
  local count = 0
  for _, key in ipairs(sorted_keys(value)) do
    out[#out + 1] = count > 0 and ", " or ""
    if key ~= count + 1 then
      out[#out + 1] = tostring(key) .. "="
    end
    put(out, value[key], depth + 1)
    count = count + 1
  end
  out[#out + 1] = "}"
end

function put(out, value, depth)
  local kind = type(value)
  if kind == "table" then
    put_table(out, value, depth)
  elseif called[value] then
    put_table(out, called[value], depth)
  elseif kind == "function" then
    out[#out + 1] = "function " .. raw.plan.hash(value)
  elseif kind == "string" then
    out[#out + 1] = string.format("%q", value)
  elseif kind == "number" then
    out[#out + 1] = string.format("%.17g", value)
  else
    out[#out + 1] = tostring(value)
  end
end

-- From here on the code of `other` counts where `fn` is registered.
function plan.calls(fn, other)
  called[fn] = called[fn] or {}
  called[fn][#called[fn] + 1] = other
end

-- A value as text: `{OnAdd=function 1f2e..., selector="app=web"}`. `without` (optional) is a set of the fields of the
-- outermost table that do not count.
function plan.text(value, without)
  local out = {}
  if without then
    local kept = {}
    for name, field in pairs(value) do
      if not without[name] then
        kept[name] = field
      end
    end
    value = kept
  end
  put(out, value, 1)
  return table.concat(out)
end

return plan
