-- Where a script says something: places are { file, line }, without a line where that is not known.
local place = {}

-- Returns how many more brackets the text opens than it closes; brackets in strings usually come in pairs.
local function depth_of(code)
  local _, opened = code:gsub("[%(%[{]", "")
  local _, closed = code:gsub("[%)%]}]", "")
  return opened - closed
end

-- The first line that has the text: of those that the call on line `from` takes, or without it of all.
local function find_line(source, text, from)
  local number, depth = 0, 0
  for line in (source .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if number >= (from or 1) then
      local code = line:match "^(.-)%-%-" or line
      if code:find(text, 1, true) then return number end
      depth = depth + depth_of(code)
      if from and depth <= 0 then return end
    end
  end
end

local function source_of(script, file)
  for _, source in ipairs(script.sources) do
    if source.path == file then return source.text end
  end
  return ""
end

-- Where the script registered what is of this class of its inventory, by its key; nil: not known.
function place.of(script, class, key)
  local places = script.places[class]
  return places and places[key]
end

-- `registered` (nil: not known) is the place of a call; of its lines it is the one on which `text` stands first,
-- comments apart, when there is one. Without that place the text is looked for in all of the script's own file. `text`
-- nil: the line of the call.
function place.find(script, registered, text)
  local at = registered or { file = script.path }
  local line = text and find_line(source_of(script, at.file), text, at.line)
  return line and { file = at.file, line = line } or at
end

-- The same by the class and the key of what the script registered.
function place.at(script, class, key, text) return place.find(script, place.of(script, class, key), text) end

-- "scripts/x.lua:3", or without the line.
function place.text(at) return at.line and ("%s:%d"):format(at.file, at.line) or at.file end

return place
