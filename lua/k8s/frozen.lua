-- Tables that scripts can read but not change: the API is the same for every part of a script.
local raw = ...

local contents = setmetatable({}, { __mode = "k" })

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

-- What a frozen table shows, nil for any other value.
function frozen.content(value)
  return contents[value]
end

return frozen
