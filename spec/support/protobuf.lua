-- Messages of Protocol Buffers, lists of fields { number, value }: a number is a varint, a string is bytes (a text, or
-- a message that is encoded already). Small numbers only.
local protobuf = {}

local function varint(number)
  local bytes = {}
  while number > 127 do
    bytes[#bytes + 1] = string.char(number % 128 + 128)
    number = math.floor(number / 128)
  end
  return table.concat(bytes) .. string.char(number)
end

function protobuf.encode(fields)
  local parts = {}
  for i, field in ipairs(fields) do
    local number, value = field[1], field[2]
    if type(value) == "number" then
      parts[i] = varint(number * 8) .. varint(value)
    else
      parts[i] = varint(number * 8 + 2) .. varint(#value) .. value
    end
  end
  return table.concat(parts)
end

local function read_varint(text, at)
  local number, factor = 0, 1
  while true do
    local byte = assert(text:byte(at), "the message ends within a number")
    at = at + 1
    number = number + byte % 128 * factor
    if byte < 128 then return number, at end
    factor = factor * 128
  end
end

function protobuf.decode(text)
  local fields, at = {}, 1
  while at <= #text do
    local tag, value
    tag, at = read_varint(text, at)
    if tag % 8 == 0 then
      value, at = read_varint(text, at)
    else
      assert(tag % 8 == 2, "a field that is neither a varint nor bytes")
      local length
      length, at = read_varint(text, at)
      assert(at + length - 1 <= #text, "the message ends within a field")
      value, at = text:sub(at, at + length - 1), at + length
    end
    fields[#fields + 1] = { math.floor(tag / 8), value }
  end
  return fields
end

-- The values of a number, in their order.
function protobuf.all(text, number)
  local values = {}
  for _, field in ipairs(protobuf.decode(text)) do
    if field[1] == number then values[#values + 1] = field[2] end
  end
  return values
end

-- The one value of a number, nil without.
function protobuf.one(text, number)
  local values = protobuf.all(text, number)
  assert(#values < 2, "a field that is there twice")
  return values[1]
end

-- A length of four bytes, the highest first.
function protobuf.framed(message)
  local n, bytes = #message, {}
  for i = 1, 4 do bytes[i] = string.char(math.floor(n / 256 ^ (4 - i)) % 256) end
  return table.concat(bytes) .. message
end

-- The messages of a text that has a length before each; what is not whole yet is left out.
function protobuf.frames(text)
  local messages, at = {}, 1
  while at + 3 <= #text do
    local a, b, c, d = text:byte(at, at + 3)
    local n = ((a * 256 + b) * 256 + c) * 256 + d
    if at + 3 + n > #text then break end
    messages[#messages + 1] = text:sub(at + 4, at + 3 + n)
    at = at + 4 + n
  end
  return messages
end

return protobuf
