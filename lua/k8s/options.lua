-- Options tables: every name known, every value of its type, or an error with the script's line.
local raw = ...

local options = {}

-- Values that may be a duration, an informer or an object; functions check that. Bytes, and a text beside a table, are
-- strings that may have NUL bytes, as no other has: as a C string it would end at the first.
local TEXT_OR_NUMBER, TEXT_OR_FUNCTION = { number = true, string = true }, { string = true, ["function"] = true }
local FORMS = {
  any = { boolean = true, number = true, string = true, table = true },
  ["boolean or text"] = { boolean = true, string = true },
  bytes = { string = true },
  duration = TEXT_OR_NUMBER,
  ["number or quantity"] = TEXT_OR_NUMBER,
  ["kind or informer"] = { string = true, userdata = true },
  ["path or function"] = TEXT_OR_FUNCTION,
  ["table or false"] = { table = true, boolean = true },
  ["table or path"] = { table = true, string = true },
  ["table or text"] = { table = true, string = true, userdata = true },
  ["text or function"] = TEXT_OR_FUNCTION,
  time = TEXT_OR_NUMBER,
  ["view or reference"] = { table = true, userdata = true },
}

-- Forms whose names say too little.
local WORDS = { any = "boolean, a number, a string or a table", bytes = "string" }

local function is_cut(value, expected)
  return type(value) == "string" and string.find(value, "\0", 1, true)
    and expected ~= "bytes" and expected ~= "table or text"
end

local function is_right(value, expected)
  local good = expected and (type(value) == expected or FORMS[expected] and FORMS[expected][type(value)])
  return good and not is_cut(value, expected)
end

-- Keys that are tables are told by their type alone: their own text is a function of the script.
local function show(name)
  return type(name) == "table" and "table" or tostring(name)
end

local function complain(where, name, value, known)
  local expected = known[name]
  if not expected then
    require "k8s.unknown"(where, name, known)
  end
  if type(value) == "string" and is_right("", expected) then
    raw.raise(where .. ": " .. name .. " must not contain a NUL byte")
  end
  raw.raise(where .. ": " .. name .. " must be a " .. (WORDS[expected] or expected) .. ", not " .. type(value))
end

-- `known` maps each option to the type its value must have. A missing table is an empty one. Gives a copy: each value
-- is read once, without metamethods, so that what is checked is what is used, whatever the script does meanwhile. Of
-- several that are wrong the first by name is told, so that the same script gives the same error each time.
function options.check(where, given, known)
  if given == nil then
    return {}
  end
  if type(given) ~= "table" then
    raw.raise(where .. ": options must be a table, not " .. type(given))
  end
  local own, wrong, shown = {}, nil, nil
  for name, value in pairs(given) do
    own[name] = value
    if not is_right(value, known[name]) and (wrong == nil or show(name) < shown) then
      wrong, shown = name, show(name)
    end
  end
  if wrong ~= nil then
    complain(where, wrong, own[wrong], known)
  end
  return own
end

-- A field of what a script gave, an object or a reference to one: of a table without metamethods, as all that is sent
-- of it is read.
function options.field(value, name)
  if type(value) == "table" then
    return rawget(value, name)
  end
  return value[name]
end

-- Bytes of an option that is a number or a text as "64Ki". Where values of parameters are not known, an empty text may
-- be one.
function options.bytes(where, size)
  if type(size) ~= "string" or size == "" and raw.params.may_lack() then
    return size ~= "" and size or nil
  end
  local quantity = raw.quantity(size)
  if not quantity then
    raw.raise(string.format('%s must be a number of bytes or a quantity, such as "64Ki", not "%s"', where, size))
  end
  return quantity:number()
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

-- Argument of declarations: an array of strings, each of which goes to `take`.
function options.each_text(where, declared, take)
  if type(declared) ~= "table" then
    raw.raise(where .. ": expected a table, not " .. type(declared))
  end
  for key in pairs(declared) do
    if type(key) ~= "number" then
      raw.raise(where .. ": expected an array of strings, found key " .. tostring(key))
    end
  end
  for _, text in ipairs(declared) do
    take(text)
  end
end

return options
