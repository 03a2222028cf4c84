-- Where things are: the spec that calls, its folder, and the files that it names.
local raw = ...

local place = {}

-- The innermost file on the stack that is a spec, or else the innermost that is none of ours and none of busted's; and
-- the line in it.
local function caller()
  local first, first_line
  for level = 2, 200 do
    local info = debug.getinfo(level, "Sl")
    if not info then
      break
    end
    local file = info.source:match "^@(.*)$"
    if file and file:find "_spec%.lua$" then
      return file, info.currentline
    end
    if file and not first then
      first, first_line = file, info.currentline
    end
  end
  return first, first_line
end

-- "shop_spec.lua:12": who calls.
function place.line()
  local file, line = caller()
  return file and ("%s:%d"):format(file, line) or "?"
end

-- The folder that is tested, "" for the current one, else with a slash at its end.
function place.folder()
  local file = caller() or ""
  local folder = file:match "^(.*/)[^/]*$" or ""
  if folder == "spec/" then
    return ""
  end
  return folder:match "^(.*/)spec/$" or folder
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then
    file:close()
  end
  return file ~= nil
end

-- The path of a file that a spec names: in the folder that is tested, or else where busted runs.
function place.find(what, folder, path)
  if type(path) ~= "string" then
    raw.raise(what .. ": path must be a string, not " .. type(path))
  end
  local there = path:sub(1, 1) == "/" and path or folder .. path
  if exists(there) then
    return there
  elseif exists(path) then
    return path
  end
  raw.raise(("%s: no file %s%s"):format(what, there, there ~= path and ", nor " .. path or ""))
end

return place
