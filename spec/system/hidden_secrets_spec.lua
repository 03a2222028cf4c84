-- What looks into a running engine shows no data of Secrets without --show-secrets: each way is tried.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"

local ENGINE = [[
local k8s = require "k8s"
k8s.writes { "secrets:patch" }
k8s.informer "secrets"
k8s.informer("secrets", { namespace = "default", fields = { "data" } })
local keys = k8s.queue { name = "keys" }
k8s.command("write", function()
  keys:add "default/token"
  return select(2, k8s.patch({ kind = "secrets", namespace = "default", name = "token" },
    { data = { password = "aHVudGVyMw==" } })) == nil
end)
k8s.rule { id = "weak", title = "Passwords are strong", severity = "high", kinds = { "secrets" },
  check = function(secret, r)
    local password = secret.data and secret.data.password
    r:fail("is weak", { path = "data.password", value = password })
    r:warn("is short", { path = ".data['password']", value = password })
    r:fail("is all of it", { value = secret.data })
    r:fail("is named so", { path = "metadata.name", value = secret.metadata.name })
    r:fail("was applied", { path = "metadata.annotations", value = secret.metadata.annotations })
  end }
k8s.main(function() print "ready" end)
]]

local LAST = "kubectl.kubernetes.io/last-applied-configuration"
local DATA = { "aHVudGVy", "hunter" } -- base64 of what begins with hunter, and that

local function has_data(text)
  for _, data in ipairs(DATA) do
    if text:find(data, 1, true) then return true end
  end
  return false
end

describe("the data of Secrets in a running engine", function()
  local at, ui
  setup(function()
    at = engine_at_socket.new(ENGINE, {})
    at.sim.api:create("/api/v1/namespaces/default/secrets", { apiVersion = "v1", kind = "Secret",
      metadata = { namespace = "default", name = "token", annotations = { [LAST] = "hunter1" } },
      data = { password = "aHVudGVyMg==" } })
    local engine = at:start { "--history", "secrets", "--ui-bind-address", "127.0.0.1:0", "--report=metrics" }
    ui = engine:wait_error('"Serving a page about the engine" address="([^"]+)"')
    assert.are.equal("true\n", at:ask("call", "write"))
    await(function() return at:ask("history", "secret/token"):find "updated" end, "the version")
  end)
  teardown(function() at:close() end)

  -- Everything that a command says, its errors too, given these lines.
  local function say(words, lines)
    table.insert(words, 2, "--admin-socket")
    table.insert(words, 3, at.socket)
    local p = cluster.kubelua(words)
    if lines then p:write(lines) end
    p:close_input()
    p:wait()
    return p:out() .. p:err()
  end

  local PLACE = 'apiVersion = "v1", kind = "Secret", metadata = { namespace = "default", name = "token" }'
  local LINES = {
    'secrets["default/token"].data.password', 'print(secrets["default/token"]:json())', "secrets:list()",
    "for s in secrets:query():each() do print(s.data.password) end", "secrets()[1].data", 'kind("v1/Secret"):list()',
    'k8s.get("secret", "default/token").data', 'k8s.list("v1/secrets")[1].data',
    'for page in k8s.pages "Secret" do print(page[1]:json()) end',
    ("k8s.history { %s }"):format(PLACE), 'k8s.history { kind = "secret", namespace = "default", name = "token" }',
    'print(secrets:table { namespace = "default" })',
    'secrets:query():where("data.password", "=", "aHVudGVyMw=="):count()',
    "secrets:count()",
  }

  it("is in no line of a prompt", function()
    for _, line in ipairs(LINES) do
      local text = say({ "repl", "--engine" }, line .. "\n")
      assert.has_match("repl:1: secrets are hidden; --show-secrets shows them", text, 1, true)
      assert.is_false(has_data(text), line .. "\n" .. text)
      text = say { "query", line:match "^for" and ("(function() %s end)()"):format(line) or line }
      assert.has_match("secrets are hidden; --show-secrets shows them", text, 1, true)
    end
    -- One line is no way around what another one was refused.
    local around = "pcall(function() x = secrets end)\nprint(x)\n" .. table.concat(LINES, "\n")
    local all = say({ "repl", "--engine" }, around)
    assert.is_false(has_data(all), all)
    assert.has_match('^"aHVudGVyMw=="\n$', say({ "repl", "--engine", "--show-secrets" }, LINES[1] .. "\n"))
    local why = "--show-secrets requires --engine; other prompts hide nothing"
    assert.has_match(why, say { "repl", "--show-secrets" }, 1, true)
  end)

  it("is in no cache that has lost their kind", function()
    local some
    for _, one in ipairs(cjson.decode(at:ask("status", "-o", "json")).informers) do
      if one.name:find "fields" or one.name:find " in default" then some = one.name end
    end
    for _, form in ipairs { "json", "yaml", "table", "custom-columns=A:.data.password,B:.data", "jsonpath={.items}" } do
      local text = say { "get", some, "-o", form }
      assert.has_match(form == "table" and "token" or "<7 bytes>", text, 1, true)
      assert.is_false(has_data(text), text)
    end
    assert.has_match("the data of Secrets is hidden",
      say { "get", some, "--field-selector", "data.password=aHVudGVyMw==" })
    assert.has_match("aHVudGVyMw==", say { "get", some, "-o", "json", "--show-secrets" }, 1, true)
  end)

  it("is in no value of a finding", function()
    for _, form in ipairs {
      "table", "wide", "json", "yaml", "sarif", "junit", "html", "policyreport", "openreports",
    } do
      local text = say { "audit", "--engine", "-o", form }
      assert.has_match("is weak", text, 1, true)
      assert.is_false(has_data(text), text)
    end
    local values = {}
    local report = cjson.decode((say { "audit", "--engine", "-o", "json" }):match "^(.-\n)kubelua audit")
    for _, one in ipairs(report.results) do
      values[one.message] = one.value
    end
    local hidden = "<hidden>"
    assert.are.same({ ["is weak"] = hidden, ["is short"] = hidden, ["is all of it"] = hidden, ["was applied"] = hidden,
      ["is named so"] = "token" }, values)
    local shown = say { "audit", "--engine", "-o", "json", "--show-secrets" }
    assert.has_match("aHVudGVyMw==", shown, 1, true)
    assert.has_match("hunter1", shown, 1, true)
    -- Who may read reports may read no Secrets by that.
    assert.is_false(has_data(say { "audit", "--engine", "-o", "policyreport", "--show-secrets" }))
  end)

  it("is in nothing else that an engine tells", function()
    for _, words in ipairs {
      { "status", "-o", "json" }, { "status", "-o", "wide" }, { "top", "--once" }, { "writes" },
      { "writes", "-o", "json" },
      { "queue", "keys" }, { "queue", "keys", "-o", "json" }, { "quarantine" }, { "history", "secret/token" },
      { "history", "secret/token", "-o", "json", "--objects" }, { "get", "secrets", "-o", "yaml" },
      { "audit", "--engine", "--list-rules", "-o", "json" }, { "audit", "--engine", "--explain", "weak" },
    } do
      local text = say { unpack(words) }
      assert.has_match("%w", text)
      assert.is_false(has_data(text), text)
    end
    local page = cluster.curl and cluster.curl("http://" .. ui .. "/state.json")
      or assert(io.popen(("curl -s http://%s/state.json"):format(ui))):read "*a"
    assert.has_match('"scripts"', page, 1, true)
    assert.is_false(has_data(page), page)
    assert.is_false(has_data(at.engine:out() .. at.engine:err()))
  end)
end)
