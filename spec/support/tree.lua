-- What the checks of the source tree share: its files, their lines, and the findings that set the exit code.
-- spec/support/check-* FOLDER looks at FOLDER instead of this repository.
local tree = {}

-- The folder that is checked.
tree.root = arg[1] or arg[0]:match("^(.*)/spec/support/[^/]+$") or "."
local root = tree.root

-- Every file but what is built, fetched or Git's own, by its path below the root, sorted.
function tree.files()
  local list = {}
  local find = "find . -name .git -prune -o -path ./build -prune -o -type f -print"
  local pipe = io.popen("cd '" .. root .. "' && " .. find .. " | LC_ALL=C sort")
  for path in pipe:lines() do list[#list + 1] = path:sub(3) end
  pipe:close()
  return list
end

function tree.read(path)
  local file = io.open(root .. "/" .. path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

-- Iterates over number and text of a file's lines.
function tree.lines(path)
  local number = 0
  local next_line = (tree.read(path) or ""):gmatch("([^\n]*)\n?")
  return function()
    number = number + 1
    local line = next_line()
    if line then return number, line end
  end
end

function tree.exists(path)
  local file = io.open(root .. "/" .. path)
  if file then file:close() end
  return file ~= nil
end

local count = 0

function tree.finding(path, number, text, ...)
  count = count + 1
  io.stderr:write(("%s:%d: %s\n"):format(path, number, text:format(...)))
end

function tree.finish()
  os.exit(count == 0 and 0 or 1)
end

return tree
