-- JSON texts put together: each function returns the text of a value.
local json = {}

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

function json.text(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

function json.integer(n) return ("%d"):format(n) end

-- Null when there is none, or it is not finite.
function json.number(n)
  return n and n - n == 0 and ("%.9g"):format(n) or "null"
end

-- Names and texts of values in turn; a field whose text is nil or false is left out.
function json.object(...)
  local fields = {}
  for i = 1, select("#", ...), 2 do
    local name, value = select(i, ...)
    if value then fields[#fields + 1] = json.text(name) .. ":" .. value end
  end
  return "{" .. table.concat(fields, ",") .. "}"
end

-- `encode` returns the text of an item.
function json.list(items, encode)
  local texts = {}
  for i, item in ipairs(items) do texts[i] = encode(item) end
  return "[" .. table.concat(texts, ",") .. "]"
end

return json
