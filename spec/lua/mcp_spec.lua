-- lua/tool/mcp: the Model Context Protocol, with a host that is made up.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local cjson = require "cjson"
local serve = require "tool.mcp"

-- As the program parses JSON: maps have a metatable.
local function marked(value, text_of)
  if type(value) ~= "table" then return value end
  local is_list = #value > 0 or next(value) == nil and not text_of:find "{%s*}"
  for key, item in pairs(value) do value[key] = marked(item, text_of) end
  return is_list and value or setmetatable(value, { names = {} })
end

local function parse(text)
  local ok, value = pcall(cjson.decode, text)
  if not ok then return nil, "invalid JSON" end
  return marked(value, text)
end

local function nearest(name, names)
  for _, one in ipairs(names) do
    if one:sub(1, 2) == name:sub(1, 2) then return one end
  end
end

-- Serves these events, lines of a client or tables, and returns what was replied, and what was run and killed.
local function session(events, flags)
  local replies, started, killed, i = {}, {}, 0, 0
  local host = { parse = parse, quote = cjson.encode, nearest = nearest, version = "1.2.3" }
  function host.next()
    i = i + 1
    if type(events[i]) == "table" then return unpack(events[i], 1, 5) end
    if events[i] then return "line", events[i] end
  end
  function host.start(words, timeout_ms, output_max)
    assert.are.same({ 1000, 100 }, { timeout_ms, output_max })
    started[#started + 1] = table.concat(words, " ")
    return true
  end
  function host.kill() killed = killed + 1 end
  local all = { ["max-output"] = 100, timeout = 1000 }
  for name, value in pairs(flags or {}) do all[name] = value end
  local code = serve { host = host, flags = all, OK = 0, USAGE = 2,
    write = function(text)
      assert.is_nil(text:find "\n.")
      replies[#replies + 1] = cjson.decode(text)
      return true
    end }
  assert.are.equal(0, code)
  return replies, started, killed
end

local function message(method, params, id)
  return cjson.encode { jsonrpc = "2.0", id = id ~= false and (id or 1) or nil, method = method, params = params }
end

local function call(name, arguments, id) return message("tools/call", { name = name, arguments = arguments }, id) end

local MODERN = {
  ["io.modelcontextprotocol/protocolVersion"] = "2026-07-28",
  ["io.modelcontextprotocol/clientCapabilities"] = { sampling = { x = 1 } },
}

local function names_of(tools)
  local names = {}
  for i, tool in ipairs(tools) do names[i] = tool.name end
  return table.concat(names, " ")
end

describe("kubelua mcp", function()
  it("agrees on a revision by initialize", function()
    for wanted, agreed in pairs {
      ["2024-11-05"] = "2024-11-05", ["2025-03-26"] = "2024-11-05", ["2025-06-18"] = "2025-06-18",
      ["2025-11-25"] = "2025-11-25", ["2030-01-01"] = "2025-11-25", ["1"] = "2024-11-05",
    } do
      local reply = session({ message("initialize", { protocolVersion = wanted }) })[1]
      assert.are.same({ agreed, "kubelua", "1.2.3" }, { reply.result.protocolVersion, reply.result.serverInfo.name,
        reply.result.serverInfo.version })
      assert.is_table(reply.result.capabilities.tools)
      assert.is_nil(reply.result.resultType)
    end
    assert.are.equal(-32602, session({ message("initialize", { x = 1 }) })[1].error.code)
  end)

  it("serves clients that send their revision with each request", function()
    local replies = session { message("server/discover", { _meta = MODERN }), message("tools/list", { _meta = MODERN }),
      message("tools/list", { _meta = { ["io.modelcontextprotocol/protocolVersion"] = "2031-01-01" } }),
      message("ping", { _meta = { ["io.modelcontextprotocol/protocolVersion"] = "2026-07-28" } }) }
    assert.are.equal("2026-07-28", replies[1].result.supportedVersions[1])
    for i = 1, 2 do
      local result = replies[i].result
      assert.are.same({ "complete", "private", "kubelua" },
        { result.resultType, result.cacheScope, result._meta["io.modelcontextprotocol/serverInfo"].name })
    end
    assert.are.same({ -32022, "2031-01-01" }, { replies[3].error.code, replies[3].error.data.requested })
    assert.are.equal(-32602, replies[4].error.code)
  end)

  it("offers what writes only if that is allowed", function()
    local tools = session({ message "tools/list" })[1].result.tools
    assert.are.equal("status get query history audit explain", names_of(tools))
    for _, tool in ipairs(tools) do
      assert.are.same({ true, "object" }, { tool.annotations.readOnlyHint, tool.inputSchema.type })
    end
    assert.are.same({ "kind" }, tools[2].inputSchema.required)
    assert.are.equal("string", tools[2].inputSchema.properties.names.items.type)
    tools = session({ message "tools/list" }, { ["allow-writes"] = true })[1].result.tools
    assert.are.equal("status get query history audit explain call reload rollback lift", names_of(tools))
    assert.is_false(tools[7].annotations.readOnlyHint)
    local refused, started = session { call("reload", {}) }
    assert.are.same({ -32602, 0 }, { refused[1].error.code, #started })
  end)

  it("runs a command for a call, whose arguments cannot be flags", function()
    local _, started = session({
      call("get", { kind = "--allow-writes", names = { "--x", "a b" }, selector = "a=b,--c" }), { "end", 0, "x", "" },
      call("query", { expression = "-1" }), { "end", 0, "x", "" },
      call("explain", { rule = "r" }), { "end", 0, "x", "" },
    }, { ["admin-socket"] = "/s" })
    assert.are.same({
      "get --selector=a=b,--c --admin-socket=/s -- --allow-writes --x a b", "query --admin-socket=/s -- -1",
      "audit --engine --explain=r --admin-socket=/s --",
    }, started)
    _, started = session({ call("get", { kind = "secrets", output = "json" }), { "end", 0, "", "" },
      call("audit", {}), { "end", 0, "", "" } }, { ["show-secrets"] = true })
    assert.are.same({ "get --show-secrets --output=json -- secrets", "audit --engine --show-secrets --" }, started)
  end)

  it("tells a client what a tool printed, and whether it failed", function()
    local function result_of(name, ...)
      local arguments = name == "get" and { kind = "pods" } or {}
      local result = session({ call(name, arguments), { "end", ... } })[1].result
      assert.are.equal("text", result.content[1].type)
      return { result.content[1].text, result.isError }
    end
    assert.are.same({ "a\n", false }, result_of("get", 0, "a\n", ""))
    assert.are.same({ "a\nwarning\n", false }, result_of("get", 0, "a", "warning\n"))
    assert.are.same({ "why\n", true }, result_of("get", 2, "", "why\n"))
    assert.are.same({ "not found\n", true }, result_of("get", 1, "", "not found\n"))
    assert.are.same({ "findings", false }, result_of("audit", 1, "findings", ""))
    assert.are.same({ "(nothing)", false }, result_of("status", 0, "", ""))
    assert.are.same({ "status: cancelled after 1 s\n", true }, result_of("status", -1, "", "", "timeout"))
  end)

  it("bounds what a tool prints", function()
    local text = session({ call("status", {}), { "end", -1, ("x"):rep(60) .. "\n" .. ("y"):rep(39), "", "limit" } })[1]
    assert.are.same({ ("x"):rep(60) .. "\n\n[cut: the result is larger than 100 bytes; ask for less]", false },
      { text.result.content[1].text, text.result.isError })
  end)

  it("says what is wrong with arguments, so that the client can mend them", function()
    for _, case in ipairs {
      { "get", {}, 'get: "kind" is missing' },
      { "get", { kind = 1 }, 'get: "kind" must be a string without NUL' },
      { "get", { kind = "a\0b" }, 'get: "kind" must be a string without NUL' },
      { "get", { kind = "a", names = "b" }, 'get: "names" must be a list of strings without NUL' },
      { "get", { kind = "a", namespaces = "b" }, 'get: unknown argument "namespaces", did you mean "names"?' },
      { "status", { wide = "yes" }, 'status: "wide" must be true or false' },
      { "query", { expression = "1", output = "xml" }, 'query: "output" must be one of table, json, yaml' },
    } do
      local replies, started = session { call(case[1], case[2]) }
      assert.are.same({ case[3], true, 0 }, { replies[1].result.content[1].text, replies[1].result.isError, #started })
    end
    local _, started = session { call("get", { kind = "a", namespace = cjson.null }), { "end", 0, "", "" } }
    assert.are.equal(1, #started)
  end)

  it("refuses what is no message, and goes on", function()
    local cases = {
      { '{"a', -32700 }, { "[]", -32600 }, { "1", -32600 }, { "null", -32600 }, { '{"jsonrpc":"2.0","id":1}', -32600 },
      { '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600 }, { '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600 },
      { '{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600 }, { message("resources/list"), -32601 },
      { '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}', -32602 },
      { message("tools/list", { cursor = "x" }), -32602 }, { call("gat", {}), -32602 }, { call(1, {}), -32602 },
      { call("get", { 1 }), -32602 }, { { "long" }, -32600 },
    }
    local events = {}
    for i, case in ipairs(cases) do events[i] = case[1] end
    events[#events + 1] = message("ping", nil, "last")
    local replies = session(events)
    for i, case in ipairs(cases) do assert.are.equal(case[2], replies[i].error.code, cjson.encode(case[1])) end
    assert.are.same({ "last", {} }, { replies[#cases + 1].id, replies[#cases + 1].result })
    assert.are.equal(#cases + 1, #replies)
    assert.are.equal('unknown tool "gat"', replies[12].error.message)
  end)

  it("replies nothing to notifications, replies and empty lines", function()
    assert.are.same({}, (session { message("notifications/initialized", nil, false), "", " ",
      message("foo", nil, false),
      '{"jsonrpc":"2.0","id":1,"result":{"a":1}}', '{"jsonrpc":"2.0","id":1,"error":{"code":1}}' }))
  end)

  it("calls tools one after another, and replies to the rest meanwhile", function()
    local replies, started = session { call("status", nil, "a"), call("audit", nil, 2.5), message("ping", nil, 3),
      { "end", 0, "one", "" }, { "end", 0, "two", "" } }
    assert.are.same({ "status --output=table --", "audit --engine --" }, started)
    assert.are.same({ 3, "a", 2.5 }, { replies[1].id, replies[2].id, replies[3].id })
    assert.are.same({ "one", "two" }, { replies[2].result.content[1].text, replies[3].result.content[1].text })
  end)

  it("ends calls that the client cancels", function()
    local function cancel(id) return message("notifications/cancelled", { requestId = id }, false) end
    local replies, started, killed = session { call("audit", nil, 1), call("status", nil, 2), call("explain", nil, 3),
      cancel(2), cancel(9), cancel(1), { "end", 0, "listed", "" } }
    assert.are.same({ 1, 2, 1 }, { killed, #started, #replies })
    assert.are.same({ 3, "listed" }, { replies[1].id, replies[1].result.content[1].text })
  end)

  it("lets only so many calls wait", function()
    local events = {}
    for i = 1, 35 do events[i] = call("status", nil, i) end
    local replies = session(events)
    assert.are.same({ 2, 34, true }, { #replies, replies[1].id, replies[1].result.isError })
  end)
end)
