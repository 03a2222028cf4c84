-- k8s.sink on k8s.test: what is published, and what publish returns when nothing can be stored.
local test = require "k8s.test"
local temp = require "spec.support.temp"

local function load(text, options)
  local path = temp.name() .. ".lua"
  temp.write(path, 'local k8s = require "k8s"\n' .. text)
  finally(function() os.remove(path) end)
  return test.load(path, options)
end

local SCRIPT = [[
  local sink = k8s.sink { name = "changes", to = "https://events.example.com/in", type = "com.example.pod" }
  k8s.informer("pods"):on_add(function(pod)
    local ok, err = sink:publish({ subject = pod:key(), data = { phase = pod.status.phase }, attempt = 1 },
      { key = pod:key(), id = pod:uid(), timeout = "10s" })
    print(ok, err and err.reason, err and err.message)
  end)
]]

local function pod(name)
  return { kind = "Pod", metadata = { name = name, uid = "uid-" .. name }, status = { phase = "Running" } }
end

describe("k8s.sink in a spec", function()
  it("keeps what was published, in order, with its key and its id", function()
    local env = load(SCRIPT, { objects = { pod "a" } })
    env:add(pod "b")
    local list = env:published "changes"
    assert.are.equal(2, #list)
    assert.are.equal(env:get("pods", "default/a").metadata.uid, list[1].id)
    assert.are.equal("default/b", list[2].key)
    local event = list[2].event
    assert.are.equal("1.0", event.specversion)
    assert.are.equal("com.example.pod", event.type)
    assert.are.equal("kubelua/changes", event.source)
    assert.are.equal("default/b", event.partitionkey)
    assert.are.equal("application/json", event.datacontenttype)
    assert.are.same({ phase = "Running" }, event.data)
    assert.are.equal(1, event.attempt)
    assert.are.equal(list[2].id, event.id)
    assert.matches("^%d+-%d+-%d+T[%d:.]+Z$", event.time)
    assert.are.same({}, env:published "others")
    assert.are.equal("true\tnil\tnil", env.prints[2])
  end)

  it("takes logins that functions give while the script runs", function()
    local env = load([[
      local settings = k8s.params { token = { type = "secret", from = "secret:default/login/token" } }
      local asked = 0
      local sink = k8s.sink {
        name = "a", to = "nats://nats/events", type = "t",
        token = function() asked = asked + 1 return settings.token end,
      }
      k8s.command("go", function() return sink:publish {} end)
      k8s.command("asked", function() return asked end)
      k8s.command("token", function() return settings.token end)
    ]], { objects = { { kind = "Secret", metadata = { name = "login" }, data = { token = "dDBrZW50MGtlbg==" } } } })
    local function asked() return tonumber((env:call "asked")) end
    assert.are.equal("true", (env:call "go"))
    assert.are.equal(1, #env:published "a")
    assert.are.equal("t0kent0ken", (env:call "token"))
    local before = asked()
    assert.is_true(before >= 1)
    env:advance "10s"
    assert.is_true(asked() >= before + 9)
    env:delete("secrets", "default/login")
    env:advance "2s"
    assert.are.equal("true", (env:call "go"))
  end)

  local BY_FUNCTION = [[
    local settings = k8s.params { token = { type = "secret", from = "secret:default/login/token", required = true } }
    local asked, lister = 0, k8s.informer("configmaps"):lister()
    k8s.sink {
      name = "a", to = "nats://nats/events", type = "t",
      token = function()
        asked = asked + 1
        %s
      end,
    }
    k8s.command("asked", function() return asked end)
  ]]
  local LOGIN = { kind = "Secret", metadata = { name = "login" }, data = { token = "dDBrZW50MGtlbg==" } }

  it("fails for a function of a login that raises", function()
    local text = BY_FUNCTION:format [[return lister:get "default/bad" and error "boom" or settings.token]]
    local env = load(text, { objects = { LOGIN } })
    env:add { kind = "ConfigMap", metadata = { name = "bad" } }
    assert.error_matches(function() env:advance "3s" end, "boom\n  in a call of the script: sink a\n")

    env = load(text, { objects = { LOGIN }, failures = "collect" })
    env:add { kind = "ConfigMap", metadata = { name = "bad" } }
    env:advance "3s"
    assert.is_true(#env.failures >= 3)
    assert.are.equal("sink", env.failures[1].call)
    assert.are.equal("a", env.failures[1].fields.sink)
  end)

  it("fails for a function of a login that gives no text, but not while the Secret is not there", function()
    for _, body in ipairs { "return settings.token", "return 'Bearer ' .. settings.token", "return nil" } do
      local env = load(BY_FUNCTION:format(body))
      env:advance "3s"
      assert.is_true(tonumber((env:call "asked")) >= 3)
    end
    local env = load(BY_FUNCTION:format "return #settings.token", { objects = { LOGIN }, failures = "collect" })
    env:advance "1s"
    assert.matches("k8s.sink: a: token: the function must return a string, not a number", env.failures[1].error)
  end)

  it("quarantines a function of a login that exceeds its limit again and again", function()
    local env = load(BY_FUNCTION:format [[if lister:get "default/bad" then while true do end end return "t0kent0ken"]],
      { failures = "collect" })
    env:add { kind = "ConfigMap", metadata = { name = "bad" } }
    env:advance "10s"
    assert.are.equal(3, #env.failures)
    assert.are.equal("sink", env.failures[1].call)
    local asked = env:call "asked"
    env:advance "5s"
    assert.are.equal(asked, env:call "asked")
  end)

  it("waits while nothing can be stored, and returns an error after its timeout", function()
    local env = load(SCRIPT)
    env:fail_publishing "the disk is full"
    env:add(pod "a")
    env:advance "9s"
    assert.are.same({}, env.prints)
    env:advance "1s"
    assert.are.equal("nil\tTimeout\tsink changes: the event was not stored in time: the disk is full", env.prints[1])
    env:add(pod "b")
    env:advance "5s"
    env:fail_publishing()
    assert.are.equal("true\tnil\tnil", env.prints[2])
    assert.are.equal("default/b", env:published()[1].key)
  end)

  it("gives ids and times of its own where the script gives none", function()
    local env = load [[
      local sink = k8s.sink { name = "a", to = "file:///var/lib/events", source = "here" }
      k8s.command("go", function()
        sink:publish { type = "t" }
        sink:publish { type = "t", id = "mine", time = "2026-01-01T00:00:00Z", data = "text" }
      end)
    ]]
    env:call "go"
    local list = env:published()
    assert.is_true(#list[1].id > 10)
    assert.are.equal("here", list[1].event.source)
    assert.is_nil(list[1].event.data)
    assert.are.equal("mine", list[2].id)
    assert.are.equal("text", list[2].event.data)
    assert.are.equal("2026-01-01T00:00:00Z", list[2].event.time)
  end)

  it("refuses what is no event, and names it", function()
    local env = load([[
      local sink = k8s.sink { name = "a", to = "file:///var/lib/events" }
      local calls = {
        function() sink:publish "x" end,
        function() sink:publish { data = 1 } end,
        function() sink:publish { type = "t", Subject = "x" } end,
        function() sink:publish { type = "t", count = 1.5 } end,
        function() sink:publish { type = "t", specversion = "2" } end,
        function() sink:publish({ type = "t" }, { keys = "x" }) end,
        function() sink:publish({ type = "t" }, { key = ("x"):rep(251) }) end,
        function() sink:publish({ type = "t", id = "" }) end,
      }
      k8s.command("go", function(n) return select(2, pcall(calls[tonumber(n)])) end)
      k8s.command("large", function()
        local ok, err = sink:publish { type = "t", data = ("x"):rep(2 ^ 20) }
        return tostring(ok) .. " " .. err.reason
      end)
    ]])
    for i, message in ipairs {
      "event must be a table, not string",
      "type is missing",
      'the attribute "Subject" must have at most 20 lower-case letters and digits',
      "the attribute count must be a string, an integer or a boolean, not number",
      "the attribute specversion cannot be set",
      'unknown option "keys", did you mean "key"?',
      "sink:publish: key must have at most 250 bytes",
      "id must be a string that is not empty",
    } do
      local said = tostring(env:call("go", tostring(i)))
      assert.is_truthy(said:find(message, 1, true), said)
    end
    assert.are.equal("nil TooLarge", (env:call "large"))
    assert.are.same({}, env:published())
  end)

  it("takes an empty text as none, beside a header of its own", function()
    local env = load [[
      local settings = k8s.params {
        token = { type = "string", default = "" }, user = { type = "string", default = "" },
      }
      local sink = k8s.sink {
        name = "a", to = "https://x/", type = "t", token = settings.token, user = settings.user, password = "",
        headers = { Authorization = "Custom x" },
      }
      k8s.command("go", function() return sink:publish {} end)
    ]]
    assert.are.equal("true", (env:call "go"))
  end)

  it("refuses what is no sink, with the line", function()
    for text, message in pairs {
      ['k8s.sink { name = "a" }'] = "k8s.sink: name and to are required",
      ['k8s.sink { name = "a", to = "ftp://x/y" }'] = "to: must begin with file://, http://",
      ['k8s.sink { name = "a", to = "file://x" }'] = "a file must be file:///path/of/the/file",
      ['k8s.sink { name = "a", to = "file:///a/../b" }'] = 'must not have "." or ".."',
      ['k8s.sink { name = "a", to = "nats://host" }'] = "the subject is missing",
      ['k8s.sink { name = "a", to = "kafka://host/a b" }'] = "contains a blank",
      ['k8s.sink { name = "a", to = "https://me:pw@x/" }'] = "credentials do not belong into the URL",
      ['k8s.sink { name = "a", to = "kafka://x/y", token = "t" }'] =
        "token is for http://, https://, nats:// and tls:// only",
      ['k8s.sink { name = "a", to = "file:///x", user = "u", password = "p" }'] =
        "user is for http://, https://, nats:// and kafka:// only",
      ['k8s.sink { name = "a", to = "http://x/", cert = "c", cert_key = "k" }'] =
        "cert is for https://, tls:// and kafka+ssl:// only",
      ['k8s.sink { name = "a", to = "https://x/", credentials = "c" }'] = "credentials is for nats:// and tls:// only",
      ['k8s.sink { name = "a", to = "https://x/", token = "a\\nb" }'] = "token contains a control character",
      ['k8s.sink { name = "a", to = "https://x/", user = "a:b", password = "p" }'] = "user must not contain a colon",
      ['k8s.sink { name = "a", to = "https://x/", token = "t", headers = { authorization = "x" } }'] =
        "the header Authorization and a login are mutually exclusive",
      ['k8s.sink { name = "a", to = "https://x/", token = function() end, headers = { authorization = "x" } }'] =
        "the header Authorization and a login are mutually exclusive",
      ['k8s.sink { name = "a", to = "nats://x/y", user = function() end }'] = "k8s.sink: a: user needs password",
      ['k8s.sink { name = "a", to = "kafka://x/y", mechanism = function() end }'] =
        "k8s.sink: mechanism must be a string, not function",
      ['k8s.sink { name = "a", to = "tls://x/y", cert = "c" }'] = "k8s.sink: a: cert needs cert_key",
      ['k8s.sink { name = "a", to = "kafka://x/y", ca = "c" }'] = "ca is for https://, tls:// and kafka+ssl:// only",
      ['k8s.sink { name = "a", to = "kafka://x/y", user = "u", password = "p", mechanism = "MD5" }'] =
        'mechanism cannot be "MD5", but PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512',
      ['k8s.sink { name = "a", to = "nats://x/y", headers = { A = "b" } }'] = "headers are for http:// and https://",
      ['k8s.sink { name = "a", to = "https://x/", batch = 0 }'] = "batch must be an integer from 1 to 1000",
      ['k8s.sink { name = "a", to = "https://x/", spool = "1Mi" }'] = "spool must be between 8Mi and 64Gi",
      ['k8s.sink { name = "a", to = "https://x/", spool = "much" }'] =
        'k8s.sink: spool must be a number of bytes or a quantity, such as "64Ki", not "much"',
      ['k8s.sink { name = "a", to = "https://x/", retries = 3 }'] = 'unknown option "retries"',
      ['k8s.sink { name = "a", to = "https://x/" } k8s.sink { name = "a", to = "https://y/" }'] =
        'the name "a" is already used',
    } do
      local ok, problem = pcall(load, text)
      assert.is_false(ok, text)
      assert.is_truthy(tostring(problem):find(message, 1, true), text .. "\n" .. tostring(problem))
      assert.matches("%.lua:2: ", tostring(problem))
    end
  end)
end)
