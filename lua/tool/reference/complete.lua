-- `kubelua __complete WORD ...`, which the scripts of `kubelua completion` call: what the last word, typed so far, may
-- become. A line for each candidate, with its description behind a tab; the last line says whether the shell adds
-- names of files: ":files", ":directories" or ":none".
local objects = require "tool.reference.objects"
local values = require "tool.view.values"

local items, text = values.items, values.text

local SHELLS = { "bash", "zsh", "fish" }

-- Flags of a command by their long names and letters.
local function flags_of(one)
  local flags = {}
  for _, group in ipairs(one and one.groups or {}) do
    for _, flag in ipairs(group.flags) do
      flags["--" .. flag.name] = flags["--" .. flag.name] or flag
      if flag.letter then flags["-" .. flag.letter] = flags["-" .. flag.letter] or flag end
    end
  end
  return flags
end

local function takes_value(flag) return flag.kind ~= "bool" and flag.kind ~= "mode" end

-- The line so far: flags with their values, by long name, and the arguments.
local function read(words, flags)
  local given, arguments, i = {}, {}, 2
  while i < #words do
    local name, value = words[i]:match "^(%-%-[^=]+)=?(.*)$"
    local flag = flags[name or words[i]]
    if flag and takes_value(flag) then
      if not words[i]:find("=", 1, true) then
        i = i + 1
        value = words[i]
      end
      if i < #words then given[flag.name] = value end
    elseif flag then
      given[flag.name] = value ~= "false" and "true" or nil
    elseif words[i]:sub(1, 1) ~= "-" or words[i] == "-" then
      arguments[#arguments + 1] = words[i]
    end
    i = i + 1
  end
  return given, arguments
end

-- --- what names something

local found = {}

local function request(command, given, method)
  command.host.give_up_after(2000)
  local reply = command.host.request(given["admin-socket"] or os.getenv "KUBELUA_ADMIN_SOCKET", method)
  return reply
end

function found.scripts(command, given)
  local reply = request(command, given, "status")
  local names = {}
  for _, script in ipairs(items(reply and reply:value "scripts" or nil)) do names[#names + 1] = text(script.name) end
  return names
end

function found.calls(command, given)
  local reply = request(command, given, "commands")
  local names = {}
  for _, one in ipairs(items(reply and reply:value "commands" or nil)) do
    names[#names + 1] = { text(one.name), text(one.help) }
  end
  return names
end

function found.caches(command, given)
  local reply = request(command, given, "status")
  local names = {}
  for _, informer in ipairs(items(reply and reply:value "informers" or nil)) do
    names[#names + 1] = text(informer.name)
  end
  return names
end

function found.quarantined(command, given)
  local reply = request(command, given, "quarantine")
  local names = {}
  for _, one in ipairs(items(reply and reply:value "quarantined" or nil)) do
    names[#names + 1] = text(one.script) .. "/" .. text(one.id)
  end
  return names
end

function found.kinds(command, given) return command.host.kinds(given) end

local function of_kubeconfig(field)
  return function(command, given) return command.host.kubeconfig(given.kubeconfig)[field] end
end

-- A recipe is a script.
local function recipes(command)
  local names = {}
  for _, path in ipairs(command.host.recipes()) do names[#names + 1] = path:match "^scripts/([^/]+)%.lua$" end
  table.sort(names)
  return names
end

-- Of the server where the command asks one; else of the objects of the kind that the line names, or of all caches of
-- the engine.
local function namespaces(command, given, typed, arguments, flags)
  if flags["--kubeconfig"] then return objects.server_namespaces(command, given, typed) end
  local kind = arguments[1] and arguments[1]:match "^[^/]*"
  return objects.namespaces(command, given, kind and { kind } or found.caches(command, given), typed)
end

-- Objects of an engine: "KIND NAME" and "KIND/NAME".
local function of_engine(command, given, arguments, typed, takes_names)
  local is_name = typed:find("/", 1, true) or takes_names and arguments[1]
  if not is_name then return #arguments == 0 and found.caches(command, given) or {} end
  local names, head = objects.of_word(command, given, arguments, typed)
  return names, "none", head and head .. "/"
end

-- By the name of a flag; others complete by their placeholder.
local by_flag = {
  context = of_kubeconfig "contexts", cluster = of_kubeconfig "clusters", user = of_kubeconfig "users",
  filename = function(command, _, typed)
    return command.host.builtins(), typed:find "^builtin:" and "none" or "files"
  end,
  lift = found.quarantined, recipe = recipes, namespace = namespaces,
}

-- By the name of a command: its arguments.
local by_command = {
  call = function(command, given, arguments) return #arguments == 0 and found.calls(command, given) or {} end,
  get = function(command, given, arguments, typed) return of_engine(command, given, arguments, typed, true) end,
  history = function(command, given, arguments, typed)
    if arguments[1] then return {} end
    return of_engine(command, given, arguments, typed, false)
  end,
  reload = found.scripts,
  rollback = function(command, given, arguments) return #arguments == 0 and found.scripts(command, given) or {} end,
  record = found.kinds,
  publish = found.kinds,
  completion = function(_, _, arguments) return #arguments == 0 and SHELLS or {} end,
  exec = function() return {}, "files" end, test = function() return {}, "files" end,
  replay = function() return {}, "files" end, init = function() return {}, "directories" end,
}

local function values_of(command, flag, given, typed, arguments, flags)
  local choices = {}
  for choice in (flag.values or ""):gmatch "[^|]+" do choices[#choices + 1] = choice end
  if flag.kind == "choice" or flag.kind == "mode" then return choices end
  if by_flag[flag.name] then return by_flag[flag.name](command, given, typed, arguments, flags) end
  local arg = flag.arg or ""
  if arg:find "^KIND" then return found.kinds(command, given) end
  if arg:find "FILE" or arg == "PATH" or arg == "SCRIPT" then return choices, "files" end
  return choices, arg == "DIR" and "directories" or "none"
end

-- --- candidates

local function names_of_flags(flags)
  local names = {}
  for name, flag in pairs(flags) do
    if name:sub(1, 2) == "--" then names[#names + 1] = { name, flag.help } end
  end
  table.sort(names, function(a, b) return a[1] < b[1] end)
  return names
end

local function names_of_commands(groups)
  local names = {}
  for _, group in ipairs(groups) do
    for _, one in ipairs(group.commands) do names[#names + 1] = { one.name, one.summary } end
  end
  names[#names + 1] = { "help", "Show help for a command" }
  return names
end

local function command_named(groups, name)
  for _, group in ipairs(groups) do
    for _, one in ipairs(group.commands) do
      if one.name == name then return one end
    end
  end
end

-- The candidates, what the shell adds, and what stands before a candidate in the same word: "--output=".
local function find(command, words)
  local groups = command.host.commands()
  local typed = words[#words] or ""
  if #words <= 1 or words[1] == "help" and #words == 2 then return names_of_commands(groups), "none", "" end
  local one = command_named(groups, words[1])
  local flags = flags_of(one)
  local given, arguments = read(words, flags)
  local before = flags[words[#words - 1]]
  if #words > 2 and before and takes_value(before) then
    local list, more = values_of(command, before, given, typed, arguments, flags)
    return list, more, ""
  end
  local head, value = typed:match "^(%-%-[^=]+=)(.*)$"
  if head and flags[head:sub(1, -2)] then
    local list, more = values_of(command, flags[head:sub(1, -2)], given, value, arguments, flags)
    return list, more, head, value
  end
  if typed:sub(1, 1) == "-" then return names_of_flags(flags), "none", "" end
  if not by_command[words[1]] then return {}, "none", "" end
  local list, more, before_value = by_command[words[1]](command, given, arguments, typed)
  return list, more, before_value or "", before_value and typed:sub(#before_value + 1)
end

return function(command)
  local words = command.arguments
  local list, more, head, value = find(command, words)
  local typed, seen = value or words[#words] or "", {}
  for _, one in ipairs(list) do
    local name, help = one, nil
    if type(one) == "table" then name, help = one[1], one[2] end
    local is_begun = name == typed and name:find "=$" -- what follows nobody knows
    if name:sub(1, #typed) == typed and not is_begun and not seen[name] then
      seen[name] = true
      command.write(head .. name .. (help and help ~= "" and "\t" .. help:gsub("%s+", " ") or "") .. "\n")
    end
  end
  command.write(":" .. (more or "none") .. "\n")
  return command.OK
end
