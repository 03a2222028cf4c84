-- Pairs the scripts of a running engine with files, and decides what happens to both. A script that runs has a name, a
-- path, a generation, a plan and a hash of all its texts as `sources`; a file as well, but for the generation, and
-- `error` when it does not load or a reload would refuse it.
local diff = require "tool.plan.diff"

local match = {}

local function last_part(name) return name:match "[^/]*$" end

-- The one of that name, or of that last part, that has no other; nil also when there are several.
local function find(scripts, key, name)
  local found
  for _, script in ipairs(scripts) do
    if not script.other and key(script.name) == key(name) then
      if found then return nil end
      found = script
    end
  end
  return found
end

local function itself(name) return name end

-- Sets `other` by the names: a file stands for the script of its name; else for the one with the same last part, when
-- there is one alone on either side, as one folder may be reached by several paths.
function match.pair(running, files)
  for _, key in ipairs { itself, last_part } do
    for _, file in ipairs(files) do
      local same = not file.other and find(running, key, file.name)
      if same and find(files, key, file.name) == file then
        file.other, same.other = same, file
      end
    end
  end
end

local function folder(path) return path:match "^.*/" or "" end

-- Scripts that run and that no file stands for go when they lie in a folder of files, or beside what stands for those.
local function goes(script, files)
  if script.other then return false end
  for _, file in ipairs(files) do
    if file.in_folder and (folder(file.path) == folder(script.path)
      or file.other and folder(file.other.path) == folder(script.path)) then
      return true
    end
  end
  return false
end

local function result_of(file, changes)
  local runs = file.other
  if file.error then return "refused" end
  if not runs then return "added" end
  if runs.sources == file.sources then return "unchanged" end -- the engine looks at nothing else
  return #changes > 0 and "changed" or "reloaded"
end

-- Rows of the plan: `result` of each script, and the differences of its inventory.
function match.rows(running, files, classes)
  local rows = {}
  local function add(name, runs, file, result)
    local changes, same = diff(runs and runs.plan or {}, file and file.plan or {}, classes)
    rows[#rows + 1] = {
      name = name, generation = runs and runs.generation, dry_run = runs and runs.dry_run or "none",
      error = file and file.error, file = file,
      result = result or result_of(file, changes), changes = changes, same = same,
    }
  end
  for _, file in ipairs(files) do add((file.other or file).name, file.other, file) end
  for _, script in ipairs(running) do
    if goes(script, files) then add(script.name, script, nil, "removed") end
  end
  return rows
end

return match
