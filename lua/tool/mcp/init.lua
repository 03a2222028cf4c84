-- `kubelua mcp`: serves a client on stdin and stdout until it goes. Tools are called one after another, each as a
-- child; what else is asked meanwhile is replied to at once.
local protocol = require "tool.mcp.protocol"

local WAITING_MAX = 32

-- `host` is what C gives (mcp_tool.h); put(text) writes a line. settings: max_output, timeout_ms and those of protocol.
local function new_server(host, put, settings)
  local speaks, waiting, under_way = protocol.new(host, settings), {}, nil
  local server = {}

  -- Cuts a text at the end of a line if there is one not far off.
  local function cut(text)
    local stop = text:find "\n[^\n]*$"
    if stop and stop > #text / 2 then text = text:sub(1, stop) end
    return ("%s\n[cut: the result is larger than %d bytes; ask for less]"):format(text, settings.max_output)
  end

  local function reply(call, text, failed) return put(speaks:answer(call.request, text, failed)) end

  local function go_on()
    while not under_way and waiting[1] do
      local call = table.remove(waiting, 1)
      local ok, why = host.start(call.words, settings.timeout_ms, settings.max_output)
      if ok then under_way = call else reply(call, call.tool.name .. ": " .. why, true) end
    end
  end

  local function cancel(id)
    for i, call in ipairs(waiting) do
      if call.request.key == id then
        table.remove(waiting, i)
        return
      end
    end
    if under_way and under_way.request.key == id then
      host.kill()
      under_way = nil
      go_on()
    end
  end

  function server.line(line)
    local text, call, cancelled = speaks:receive(line)
    if text then put(text) end
    if cancelled ~= nil then cancel(cancelled) end
    if not call then return end
    if #waiting >= WAITING_MAX then
      reply(call, ("%d calls are waiting; wait for their results"):format(WAITING_MAX), true)
    else
      waiting[#waiting + 1] = call
      go_on()
    end
  end

  function server.long() put(speaks:refuse_long()) end

  -- The child has ended: what it printed is the result; what it wrote to stderr stands below that.
  server["end"] = function(code, output, messages, why)
    local call = under_way
    under_way = nil
    local text = why == "limit" and cut(output) or output
    if why == "timeout" then
      messages = messages .. ("%s: cancelled after %g s\n"):format(call.tool.name, settings.timeout_ms / 1000)
    end
    if messages ~= "" then text = text .. (text ~= "" and not text:find "\n$" and "\n" or "") .. messages end
    if text == "" then text = code == 0 and "(nothing)" or ("exit code %d"):format(code) end
    reply(call, text, why ~= "limit" and not call.tool.good[code])
    go_on()
  end

  return server
end

return function(command)
  local flags, host = command.flags, command.host
  local function put(text)
    if not command.write(text .. "\n") then command.fail(command.USAGE, "cannot write to stdout") end
  end
  local server = new_server(host, put, {
    max_output = flags["max-output"], timeout_ms = flags.timeout, show_secrets = flags["show-secrets"],
    allow_writes = flags["allow-writes"], admin_socket = flags["admin-socket"],
  })
  local function take(what, ...)
    if what then server[what](...) end
    return what
  end
  repeat until not take(host.next())
  return command.OK
end
