-- `kubelua mcp`: an engine for clients of the Model Context Protocol, as such a client sees it.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"
local temp = require "spec.support.temp"

local ENGINE = [[
local k8s = require "k8s"
for _, kind in ipairs { "pods", "secrets" } do k8s.informer(kind) end
k8s.command("greet", function(...) return "hello " .. table.concat({ ... }, "|") end)
k8s.command("wait", function() print "waits" k8s.sleep(3600) end)
k8s.command("spin", function() while true do end end)
k8s.rule { id = "named", title = "Pods have names", severity = "high", kinds = { "pods" }, why = "To find them.",
  check = function(obj, r) r:fail(obj.metadata.name .. " is named so") end }
k8s.main(function() print "ready" end)
]]

describe("kubelua mcp", function()
  local at, client, last_id
  before_each(function()
    at = engine_at_socket.new(ENGINE, { "--pods", "3" })
    at.sim.api:create("/api/v1/namespaces/default/secrets", { apiVersion = "v1", kind = "Secret",
      metadata = { namespace = "default", name = "token" }, data = { password = "aHVudGVyMg==" } })
    last_id = 0
  end)
  after_each(function() at:close() end)

  local function serve(...)
    local words = { "mcp", ... }
    words.env = { KUBELUA_ADMIN_SOCKET = at.socket, KUBELUA_OUTPUT = "yaml" }
    client = cluster.kubelua(words)
  end

  local function send(method, params)
    last_id = last_id + 1
    client:write(cjson.encode { jsonrpc = "2.0", id = last_id, method = method, params = params } .. "\n")
    return last_id
  end

  local function reply() return cjson.decode(client:wait_line "^.*$") end

  -- The text of a tool's result, and whether it failed.
  local function call(name, arguments)
    local id = send("tools/call", { name = name, arguments = arguments })
    local answer = reply()
    assert.are.equal(id, answer.id)
    return answer.result.content[1].text, answer.result.isError
  end

  it("shows what the engine is and has", function()
    at:start()
    serve()
    send("initialize", { protocolVersion = "2025-11-25", capabilities = { x = 1 } })
    assert.are.equal("kubelua", reply().result.serverInfo.name)
    assert.has_match("SCRIPT +MAIN +HANDLERS", (call "status"))
    assert.is_table(cjson.decode((call("status", { output = "json" }))).engine)
    assert.has_match("^NAMESPACE +NAME +READY", (call("get", { kind = "po" })))
    assert.are.equal("3\n", (call("query", { expression = "pods:count()" })))
    local none, failed = call("history", { kind = "pods", name = "x" })
    assert.are.same({ "kubelua history: no history is kept (run --history)\n", true }, { none, failed })
    assert.has_match("^HIGH  named  Pods have names  %(3 of 3 objects%)\n", (call "audit"))
    local report = call("audit", { output = "json" }):match "^(.-)\nkubelua audit: 3 objects"
    assert.are.equal(3, #cjson.decode(report).results)
    assert.has_match("^named: Pods have names\n.*Why: To find them.\n", (call("explain", { rule = "named" })))
    assert.has_match("^CATEGORY +RULE +SEVERITY +TITLE\n +named +high", (call "explain"))
    client:close_input()
    assert.are.same({ 0, "" }, { client:wait(), client:err() })
  end)

  it("names what is wrong, so that the client sees it", function()
    serve()
    local text, failed = call "status"
    assert.are.same({ "kubelua status: no engine is listening on " .. at.socket .. "\n", true }, { text, failed })
    at:start()
    for _, case in ipairs {
      { "get", { kind = "podz" }, 'did you mean "pods"?' },
      { "get", { kind = "pods", names = { "--help" } }, '"--help" not found' },
      { "query", { expression = "pods:cuont()" }, "cuont" },
      { "explain", { rule = "nmaed" }, 'did you mean "named"?' },
      { "audit", { selector = "a b" }, "selector" },
    } do
      text, failed = call(case[1], case[2])
      assert.is_true(failed)
      assert.has_match(case[3], text, 1, true)
    end
  end)

  it("hides Secrets unless they are wanted", function()
    at:start()
    local arguments = { kind = "secrets", names = { "token" }, output = "json" }
    local expression = { expression = 'secrets["default/token"].data.password' }
    serve()
    assert.has_match("<7 bytes>", (call("get", arguments)), 1, true)
    local text, failed = call("query", expression)
    assert.are.same({ true, nil }, { failed, (text:find("aHVudGVyMg", 1, true)) })
    assert.has_no_match("aHVudGVyMg", client:out(), 1, true)
    serve "--show-secrets"
    assert.has_match("aHVudGVyMg==", (call("get", arguments)), 1, true)
    assert.are.equal('"aHVudGVyMg=="\n', (call("query", expression)))
  end)

  it("changes nothing unless that is allowed", function()
    at:start { "--limit", "handler-cpu=10ms" }
    serve()
    send("tools/call", { name = "call", arguments = { command = "greet" } })
    assert.are.same({ code = -32602, message = 'unknown tool "call"' }, reply().error)
    serve "--allow-writes"
    assert.are.equal("hello a b|--help\n", (call("call", { command = "greet", arguments = { "a b", "--help" } })))
    assert.has_match("NAME +SCRIPT +HELP\ngreet", (call "call"))
    local script = at.folder .. "/watch.lua"
    temp.write(script, ENGINE .. "print 'edited'\n")
    assert.has_match("watch: ", (call "reload"))
    assert.has_match("watch: generation %d+ runs", (call("rollback", { script = "watch" })))
    for _ = 1, 3 do call("call", { command = "spin" }) end
    assert.has_match("command/spin", (call("status", { wide = true })), 1, true)
    assert.are.equal("Lifted: 1\n", (call("lift", { target = "command/spin" })))
    local _, failed = call("lift", { target = "command/spin" })
    assert.is_true(failed)
  end)

  it("bounds results, messages and time", function()
    local engine = at:start()
    serve("--max-output", "1Ki", "--timeout", "200ms", "--allow-writes")
    local text, failed = call("get", { kind = "pods", output = "json" })
    assert.is_false(failed)
    assert.has_match("\n[cut: the result is larger than 1024 bytes; ask for less]", text, 1, true)
    assert.is_true(#text < 1200)
    text, failed = call("call", { command = "wait" })
    engine:wait_line "^waits$"
    assert.are.same({ "call: cancelled after 0.2 s\n", true }, { text, failed })
    local written = 0
    while written <= 2 ^ 20 do -- as the pipe takes it
      client:write(("x"):rep(4096))
      written = written + 4096
    end
    client:write "\n"
    assert.are.same({ code = -32600, message = "a message must not exceed 1 MiB" }, reply().error)
    assert.are.equal("3\n", (call("query", { expression = "pods:count()" })))
  end)

  it("ends a call that the client cancels, and itself by a signal, with what it called", function()
    local engine = at:start()
    serve "--allow-writes"
    local function wait()
      local id = send("tools/call", { name = "call", arguments = { command = "wait" } })
      engine:wait_line "^waits$"
      return id
    end
    local id = wait()
    local params = { requestId = id }
    client:write(cjson.encode { jsonrpc = "2.0", method = "notifications/cancelled", params = params } .. "\n")
    assert.are.equal("3\n", (call("query", { expression = "pods:count()" })))
    wait()
    client:kill "TERM"
    assert.are.equal(0, client:wait())
    local children = io.popen "pgrep -f 'kubelua call.*wait$' || true"
    assert.are.equal("", children:read "*a")
    children:close()
  end)
end)
