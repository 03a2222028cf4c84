-- Commands that call a running engine by its admin socket, and print its reply: as tables for people, or as it is.
local lift = require "tool.admin.lift"
local plan = require "tool.plan"
local reload = require "tool.admin.reload"

local commands = {}

-- Raises an error of this shape, which ends the command.
local function fail(code, text) error({ code = code, text = text }, 0) end

-- The reply, or a field of it, in the form that is asked for; the module of `view` makes tables of its value.
local function show(command, reply, field, view)
  local form = command.flags.output
  local shows = form == "table" or form == "wide"
  return shows and require("tool.view." .. view)(reply:value(field), command.view) or reply:text(form, field)
end

-- Methods of the engine by the name of the command.
local function whole(command)
  if not command.write(show(command, command.request(command.name), nil, command.name)) then
    fail(command.USAGE, "cannot write to stdout")
  end
  return command.OK
end

commands.status, commands.queue, commands.writes, commands.config = whole, whole, whole, whole
commands.completion = function(command) return require "tool.reference.shells"(command) end
commands.__complete = function(command) return require "tool.reference.complete"(command) end
commands.__man = function(command) return require "tool.reference.man"(command) end
commands.__flags = function(command) return require "tool.reference.flags"(command) end
commands.get = function(command) return require "tool.look.get"(command) end
commands.query = function(command) return require "tool.look.query"(command) end
commands.mcp = function(command) return require "tool.mcp"(command) end
commands.history = function(command) return require "tool.look.history"(command) end
commands.top = function(command) return require "tool.look.top"(command) end
commands.plan, commands.reload, commands.rollback = plan, reload, reload

function commands.quarantine(command)
  if command.flags.lift then
    command.write(("Lifted: %d\n"):format(lift(command, command.flags.lift)))
    return command.OK
  end
  local text = show(command, command.request "quarantine", "quarantined", "quarantine")
  return command.write(text) and command.OK or command.USAGE
end

-- --- calls

local function write_reply(command, text)
  if command.write(text) then return command.OK end
  fail(command.USAGE, "cannot write to stdout")
end

-- A text is printed as it is; one in another form than a table is a text of that form.
local function show_result(command, reply)
  if reply:value "value" ~= nil then
    if command.flags.output ~= "table" then return reply:text(command.flags.output, "value") end
    return require "tool.view.call"(reply:cells "value")
  end
  if command.flags.output ~= "table" then return reply:text(command.flags.output, "text") end
  local text = reply:value "text" or ""
  return text:find "[^\n]$" and text .. "\n" or text
end

local function call(command)
  local words = {}
  for i, word in ipairs(command.arguments) do words[i] = command.host.quote(word) end
  local params = ('{"name":%s,"args":[%s]}'):format(words[1], table.concat(words, ",", 2))
  local reply = command.request("call", params, command.flags.timeout, command.INCOMPLETE)
  local end_ = reply:value "end"
  if end_ ~= "done" then
    io.stderr:write(("kubelua call: %s: %s\n"):format(command.arguments[1], reply:value "text" or ""))
    return end_ == "refused" and command.FINDINGS or command.INCOMPLETE
  end
  return write_reply(command, show_result(command, reply))
end

function commands.call(command)
  if command.arguments[1] then return call(command) end
  return write_reply(command, show(command, command.request "commands", "commands", "commands"))
end

-- Returns the exit code. `host` is what C gives: request, quote and sleep; the codes of exits are in it.
return function(host, name, flags, arguments, view)
  view.wide = flags.output == "wide"
  local command = setmetatable(
    { host = host, name = name, flags = flags, arguments = arguments, view = view, fail = fail }, { __index = host })
  -- `lost` is the exit code for an engine that was there and reply no more.
  function command.request(method, params, timeout_ms, lost)
    local reply, why, was_lost = host.request(flags["admin-socket"], method, params, timeout_ms)
    if not reply then fail(lost and was_lost and lost or host.USAGE, why) end
    return reply
  end
  function command.write(text) return io.stdout:write(text) and io.stdout:flush() end
  local ok, code = pcall(commands[name], command)
  if ok then return code end
  if type(code) == "string" then error(code, 0) end
  io.stderr:write(("kubelua %s: %s\n"):format(name, code.text))
  return code.code
end
