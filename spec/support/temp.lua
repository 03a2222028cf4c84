-- Folders that live as long as a test.
local temp = {}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- A new empty folder; files = { ["a/b.c"] = text } are written into it.
function temp.folder(files)
  local pipe = io.popen("mktemp -d")
  local folder = pipe:read("*l")
  pipe:close()
  for path, text in pairs(files or {}) do temp.write(folder .. "/" .. path, text) end
  return folder
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
