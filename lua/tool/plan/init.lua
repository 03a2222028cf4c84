-- `kubelua plan`: what a reload would change in a running engine. The files are loaded here, by the engine's settings;
-- the engine is asked what runs and does nothing.
local values = require "tool.view.values"
local match = require "tool.plan.match"
local refusal = require "tool.plan.refusal"
local view = require "tool.plan.view"

local items, text = values.items, values.text

local function plan_of(script)
  if type(script.plan) ~= "table" then error("a plan must be an array", 0) end
  local plan = {}
  for i, entry in ipairs(script.plan) do
    plan[i] = { class = text(entry.class), key = text(entry.key), detail = text(entry.detail) }
  end
  return plan
end

local function running_of(reply)
  local running = {}
  for i, script in ipairs(items(reply:value "scripts")) do
    running[i] = {
      name = text(script.name), path = text(script.path), sources = text(script.sources),
      trusted = script.trusted == true, dry_run = text(script.dryRun), generation = values.int(script.generation),
      plan = plan_of(script),
    }
  end
  return running
end

-- The path of a folder as the paths in it begin, however it was typed.
local function root_of(folder)
  local parts = {}
  for part in folder:gmatch "[^/]+" do
    if part ~= "." then parts[#parts + 1] = part .. "/" end
  end
  return (folder:sub(1, 1) == "/" and "/" or "") .. table.concat(parts)
end

-- The files of the arguments. Those that were found in a folder say so; `root` is the folder, where those
-- below it count, too.
local function find_files(command)
  local recursive = command.flags.recursive
  local files, by_path = command.host.find(command.flags.filename, recursive), {}
  for i, file in ipairs(files) do
    file.number = i
    by_path[file.path] = file
  end
  for _, argument in ipairs(command.flags.filename) do
    if command.host.is_folder(argument) then
      for _, file in ipairs(command.host.find({ argument }, recursive)) do
        local same = by_path[file.path]
        if same then
          same.in_folder, same.root = true, recursive and root_of(argument) or nil
        end
      end
    end
  end
  return files
end

-- Files register here what they would register there. The times of elections are in no plan.
local function settings_of(command, reply, files)
  local sent = items(reply:value "settings")
  local own_path = command.flags["lua-path"]
  local settings = {
    leaseNamespace = text(sent.leaseNamespace), leaseName = text(sent.leaseName), namespace = text(sent.namespace),
    lacksStateFiles = text(sent.lacksStateFiles),
    elects = sent.elects == true, limits = items(sent.limits), trusted = {}, params = {},
    luaPath = #own_path > 0 and own_path or items(sent.luaPath),
  }
  -- Each file that stands for a trusted script is.
  for _, file in ipairs(files) do
    if file.other and file.other.trusted then table.insert(settings.trusted, file.path) end
  end
  for _, param in ipairs(items(sent.params)) do
    if type(param.name) == "string" and type(param.value) == "string" and type(param.source) == "string" then
      param.scripts = items(param.scripts)
      table.insert(settings.params, param)
    end
  end
  return settings
end

local function exit_of(command, rows, files)
  for _, file in ipairs(files) do
    if file.unreadable then return command.USAGE end
  end
  if view.count(rows, "refused") > 0 then return command.INCOMPLETE end
  return view.count(rows, "unchanged") == #rows and command.OK or command.FINDINGS
end

-- Returns the exit code. The host gives what finds and loads files (core/app/plan/plan_files.h).
return function(command)
  local host = command.host
  local files = find_files(command)
  local reply = command.request "plan"
  local running = running_of(reply)
  match.pair(running, files)
  local settings = settings_of(command, reply, files)
  local loaded = host.load(files, settings)
  for _, file in ipairs(files) do
    function file.place_of(hash) return loaded:place(file.number, hash) end
  end
  refusal.find(loaded, running, files, settings.params)
  local rows = match.rows(running, files, host.classes())
  local out = command.flags.output == "json" and view.json(rows, host.quote) or view.text(rows)
  return command.write(out) and exit_of(command, rows, files) or command.USAGE
end
