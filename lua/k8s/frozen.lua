-- Tables that scripts can read but not change: the API is the same for every part of a script.
local raw = ...

local contents = setmetatable({}, { __mode = "k" })
local finders = setmetatable({}, { __mode = "k" }) -- of contents that are not all there yet
local names_of = setmetatable({}, { __mode = "k" })

local frozen = {}

-- A table that shows `content`; `name` is for the message of whoever tries to write.
function frozen.freeze(name, content)
  local proxy = setmetatable({}, {
    __index = content,
    __newindex = function(_, key)
      raw.raise(name .. " is read-only: " .. tostring(key) .. " cannot be set")
    end,
    __metatable = "frozen",
  })
  contents[proxy] = content
  return proxy
end

-- The same, of what is found when it is asked for: `find(key)` gives nil for what there is not. `names(call)` calls
-- `call` with each key there is, and with what else it has to say of it.
function frozen.freeze_late(name, find, names)
  local content = setmetatable({}, {
    __index = function(content, key)
      local value = find(key)
      content[key] = value
      return value
    end,
  })
  local proxy = frozen.freeze(name, content)
  finders[proxy], names_of[proxy] = names, names
  return proxy
end

-- The `names` of a table that was frozen late.
function frozen.names(value)
  return names_of[value]
end

-- Forgotten values, each to its name: a script may still have it.
frozen.forgotten = setmetatable({}, { __mode = "k" })

-- These names of a table that was frozen late are looked for again, unless it was walked: then all are there for good.
function frozen.forget(value, names, prefix)
  local content = finders[value] and contents[value] or {}
  for _, name in ipairs(names) do
    local found = rawget(content, name)
    if found then
      frozen.forgotten[found] = prefix .. name
      content[name] = nil
    end
  end
end

-- Of what a frozen table shows, that which has been asked for so far; nil for any other value.
function frozen.found(value)
  return contents[value]
end

-- Returns the content of a frozen table, nil for any other value.
function frozen.content(value)
  local content, names = contents[value], finders[value]
  if names then
    finders[value] = nil
    names(function(key)
      return content[key]
    end)
  end
  return content
end

return frozen
