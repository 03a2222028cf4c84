-- `kubelua reload` and `kubelua rollback`: ask a running engine for a reload, wait for its end, and report what came
-- of it.
local values = require "tool.view.values"

local int, items, text = values.int, values.items, values.text

local POLL_MS, REPLY_MS = 50, 10000

local function find(scripts, name)
  for _, script in ipairs(items(scripts)) do
    if script.name == name then return script end
  end
end

-- Whether one of those that were begun is.
local function is_waiting(begun, now)
  for _, script in ipairs(items(begun)) do
    local same = find(now, script.name)
    if same and same.candidate then return true end
  end
  return false
end

-- "  it is what generation 1 (since 2026-11-22T15:04:05Z, 3fa2c1d40b12) was": of what was before the script.
local function before_of(begin, script, behind)
  local before = script.before
  if not before then return "" end
  local since = text(before.takenOver)
  return ("  %s generation %d (since %s, %s)%s\n"):format(begin, int(before.generation),
    since ~= "" and since or "engine start", text(before.hash), behind)
end

-- Describes which generations a rollback exchanged, and what becomes of the next edit.
local function exchanged(old, script)
  local is_file = script.fileIsRunning == true
  return before_of("it is what", old, " was") .. before_of("it replaces", script, " (a second rollback returns to it)")
    .. ("  %s contains %s; its next change will be loaded%s\n"):format(text(script.path),
      is_file and "the same" or "a different version",
      is_file and "" or ", and kubelua reload loads it as it is")
end

-- Describes the result for a script, and whether it runs as requested.
local function outcome(method, old, script)
  local generation, error_ = int(script.generation), text(script.reloadError)
  local tried = not old or int(old.tried) ~= int(script.tried)
  local taken_over = generation ~= 0 and (not old or int(old.generation) ~= generation)
  local good = taken_over or error_ == "" or (not tried and generation ~= 0)
  local line
  if taken_over then
    line = ("generation %d runs, after a pause of %.2f ms"):format(generation, int(script.pauseMicroseconds) / 1000)
  elseif error_ ~= "" and generation == 0 then
    line = "refused, not running: " .. error_
  elseif tried and error_ ~= "" then
    line = ("refused, generation %d runs on: %s"):format(generation, error_)
  else
    line = ("unchanged, generation %d runs"):format(generation)
  end
  line = ("%s: %s\n"):format(text(script.name), line)
  if taken_over and old and method == "rollback" then line = line .. exchanged(old, script) end
  return line, good
end

-- Returns the exit code.
return function(command)
  local host, method = command.host, command.name
  if method == "rollback" and #command.arguments ~= 1 then
    command.fail(command.USAGE, "missing script; usage: kubelua rollback SCRIPT")
  end
  local function scripts_of(reply) return reply:value "scripts" end
  local function list() return command.request "reloads" end
  local names = {}
  for i, name in ipairs(command.arguments) do names[i] = host.quote(name) end
  local old = scripts_of(list())
  local begun = scripts_of(command.request(method, "[" .. table.concat(names, ",") .. "]", REPLY_MS))
  local now = list()
  while is_waiting(begun, scripts_of(now)) do
    host.sleep(POLL_MS)
    now = list()
  end
  local all_good, out = true, {}
  if command.flags.output == "json" then out[1] = now:text "json" end
  for _, script in ipairs(items(begun)) do
    local same = find(scripts_of(now), script.name)
    if same then
      local line, good = outcome(method, find(old, script.name), same)
      if command.flags.output ~= "json" then out[#out + 1] = line end
      all_good = all_good and good
    end
  end
  if not command.write(table.concat(out)) then io.stderr:write "kubelua: stdout: cannot be written\n" end
  return all_good and command.OK or command.INCOMPLETE
end
