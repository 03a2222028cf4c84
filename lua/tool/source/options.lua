-- Where an option stands that the error of a call names: "k8s.params: size: min must be a number", in the call's table.
local options = {}

-- Whether the function that is called has this name, or is of the table of this name: errors of k8s.metric.counter are
-- in the name of k8s.metric.
local function is_called(call, name)
  local called = call.tag == "Invoke" and call[2] or call[1]
  local outer = called.tag == "Index" and called[1] or nil
  if outer then called = called[2] end
  return called[1] == name or outer ~= nil and outer.tag == "Index" and outer[2][1] == name
end

-- Takes a name off the beginning of a text, with what divides names there; nil if it does not begin with it.
local function after(text, name)
  if name == "" or text:sub(1, #name) ~= name or text:find("^[%w_-]", #name + 1) then return nil end
  return (text:sub(#name + 1):gsub("^[:.]? *", ""))
end

local function after_name(text, name) return after(text, '"' .. name .. '"') or after(text, name) end

-- The element, or the value of an option, that a text quotes.
local function quoted_in(list, text)
  for _, item in ipairs(list) do
    local value = item.tag == "Pair" and item[2] or item
    if value.tag == "String" and text:find('"' .. value[1] .. '"', 1, true) then return value.line end
  end
end

local function named_in(list, text)
  if text:find "^[%w_, ]+ are required" then return nil end -- all of them, and one of them is not there
  for _, item in ipairs(list) do
    local key = item.tag == "Pair" and item[1]
    local rest = key and key.tag == "String" and after_name(text, key[1])
    if rest then
      local value = item[2]
      return value.tag == "Table" and (named_in(value, rest) or quoted_in(value, rest)) or key.line
    end
  end
end

local function line_in(arguments, first, text)
  for i = first, #arguments do
    local node = arguments[i]
    local line = node.tag == "Table" and (named_in(node, text) or quoted_in(node, text))
    if line then return line end
  end
  for i = first, #arguments do
    local node = arguments[i]
    local rest = node.tag == "String" and after_name(text, node[1])
    if rest then return line_in(arguments, i + 1, rest) or node.line end
  end
end

-- The line of what an error of the call names, or nil.
function options.line_of(call, text)
  local name, rest = text:match "^[%w_.:]-([%w_]+): (.*)$"
  if not name or not is_called(call, name) then return nil end
  rest = rest:gsub('^unknown option ', "")
  return line_in(call, call.tag == "Invoke" and 3 or 2, rest)
end

return options
