-- Pairs the scripts of a running engine with files, and decides what happens to both. A script that runs has a name, a
-- path, a generation, a plan and a hash of all its texts as `sources`; a file as well, but for the generation, and
-- `error` when it does not load or a reload would refuse it.
local diff = require "tool.plan.diff"

local match = {}

local LAST_PARTS_MAX = 16 -- as deep as -R goes

-- The last parts of a name, "b/c" of "a/b/c"; nil when it has fewer.
local function last_parts(name, count) return name:match(("[^/]*" .. ("/[^/]*"):rep(count - 1)) .. "$") end

local function folder(path) return path:match "^.*/" or "" end

-- The folder that has all of them, "" without one.
local function common_folder(scripts)
  local common
  for _, script in ipairs(scripts) do
    common = common or folder(script.path)
    while script.path:sub(1, #common) ~= common do common = folder(common:sub(1, -2)) end
  end
  return common or ""
end

-- Scripts without a counterpart by a key; false where several have the same one.
local function by_key(scripts, key)
  local found = {}
  for _, script in ipairs(scripts) do
    local value = not script.other and key(script)
    if value then found[value] = found[value] == nil and script end
  end
  return found
end

local function pair_by(key, running, files, key_of_file)
  local scripts = by_key(running, key)
  for value, file in pairs(by_key(files, key_of_file or key)) do
    local same = file and scripts[value]
    if same then file.other, same.other = same, file end
  end
end

local function pair_by_last(count, running, files)
  pair_by(function(script) return last_parts(script.name, count) end, running, files)
end

-- Sets `other`: a file stands for the script of its name; else for the one with the same last parts of the name, two
-- and more; or the one at the same place below the folder of all; or with the same last part: when there is one alone
-- on either side, as one folder may be reached by several paths.
function match.pair(running, files)
  pair_by(function(script) return script.name end, running, files)
  for count = LAST_PARTS_MAX, 2, -1 do pair_by_last(count, running, files) end
  local common = common_folder(running)
  pair_by(function(script) return script.path:sub(#common + 1) end, running, files,
    function(file) return file.root and file.path:sub(#file.root + 1) end)
  pair_by_last(1, running, files)
end

local function is_below(path, root)
  if root == "" then return not path:find "^/" and not path:find "^%.%./" end
  return path:sub(1, #root) == root
end

-- The folder that is for the other path what `root` is for the file's: a/x.lua of live/ is in next/a/x.lua, too.
local function other_root(file)
  local below, path = file.path:sub(#file.root + 1), file.other.path
  return path:sub(-#below) == below and path:sub(1, -#below - 1) or folder(path)
end

local function is_beside(script, file)
  local path, other = script.path, file.other
  if file.root then return is_below(path, file.root) or other and is_below(path, other_root(file)) end
  return folder(path) == folder(file.path) or other and folder(path) == folder(other.path)
end

-- Scripts that run and that no file stands for go when they lie in a folder of files, or beside what stands for those.
local function goes(script, files)
  if script.other then return false end
  for _, file in ipairs(files) do
    if file.in_folder and is_beside(script, file) then return true end
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
