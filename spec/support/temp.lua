-- Folders that live as long as a test.
local temp = {}
local scratch

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- A new empty folder; files = { ["a/b.c"] = text } are written into it.
function temp.folder(files)
  local pipe = io.popen("mktemp -d")
  local folder = pipe:read("*l")
  pipe:close()
  for path, text in pairs(files or {}) do temp.write(folder .. "/" .. path, text) end
  return folder
end

-- A path that names nothing yet, in a folder of this process that goes with it: scripts in a crowded /tmp are slow
-- to watch.
function temp.name()
  if not scratch then
    scratch = { folder = temp.folder(), count = 0, guard = newproxy(true) }
    getmetatable(scratch.guard).__gc = function() temp.remove(scratch.folder) end
  end
  scratch.count = scratch.count + 1
  return ("%s/%d"):format(scratch.folder, scratch.count)
end

function temp.write(path, text)
  os.execute("mkdir -p " .. quote(path:match("^(.*)/")))
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

function temp.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

function temp.remove(folder) os.execute("rm -rf " .. quote(folder)) end

-- Output (stdout and stderr) and exit code of a command line.
function temp.run(command)
  local pipe = io.popen("{ " .. command .. "; } 2>&1; printf '\\n%s' $?")
  local text = pipe:read("*a")
  pipe:close()
  local output, code = text:match("^(.*)\n(%d+)$")
  return output, tonumber(code)
end

return temp
