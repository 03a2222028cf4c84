-- Settings of scripts: k8s.params, and where operators set them.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local ALERTS = [[
local k8s = require "k8s"
local settings = k8s.params {
  webhook = { type = "url", required = true, help = "where alerts go" },
  threshold = { type = "integer", default = 5, min = 1, max = 10 },
  wait = { type = "duration", default = "90s" },
  mode = { default = "soft", values = { "soft", "hard" } },
  names = { "a", "b" },
  token = { type = "secret" },
}
k8s.command("show", function(name)
  return name == "names" and table.concat(settings.names, "+") or settings[name]
end)
k8s.informer "pods"
local state = k8s.state "n"
k8s.command("count", function() state.n = (state.n or 0) + 1 return state.n end)
]]

describe("settings of scripts", function()
  local place, sim
  before_each(function()
    place = scripts_folder.new()
    sim = cluster.sim()
    place:write("alerts.lua", ALERTS)
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function start(...) return place:start(sim, nil, { ... }) end

  local function refusal(...)
    local p = cluster.kubelua { "run", "-s", sim.server, "-f", place.path .. "/scripts", ... }
    assert.are.equal(2, p:wait())
    return p:err()
  end

  local function shown(engine, name) return ((engine.ask("call", "show", name)):gsub("\n$", "")) end

  it("have defaults, and values of flags, files, folders and the environment", function()
    temp.write(place.path .. "/params.yaml", "threshold: 7\nmode: hard\nalerts:wait: 1h\n")
    temp.write(place.path .. "/mounted/webhook", "https://example.org/?a=b\n")
    temp.write(place.path .. "/mounted/others", "are ignored")
    temp.write(place.path .. "/mounted/large", ("x"):rep(70000))
    local engine = place:start(sim, nil, {
      "--params", place.path .. "/params.yaml", "--params", place.path .. "/mounted", "--param", "threshold=8",
      "--param", "alerts:names=x,y",
    })
    local texts = {}
    for i, name in ipairs { "webhook", "threshold", "wait", "mode", "names", "token" } do
      texts[i] = shown(engine, name)
    end
    assert.are.same({ "https://example.org/?a=b", "8", "3600", "hard", "x+y", "" }, texts)
    local wide = engine.ask("status", "-o", "wide")
    assert.has_match("PARAMETER +SCRIPT +VALUE +SOURCE\n", wide)
    assert.has_match('\nthreshold +%S+alerts +8 +%-%-param threshold\n', wide)
    assert.has_match('\nmode +%S+alerts +"hard" +' .. place.path:gsub("%p", "%%%0") .. "/params.yaml:2: mode\n", wide)
    assert.has_match("\ntoken +%S+alerts +%- +not set\n", wide)
    temp.write(place.path .. "/mounted/mode", ("x"):rep(70000))
    assert.has_match("mounted/mode[^\n]* 65536 bytes", refusal("--params", place.path .. "/mounted"))
  end)

  it("may have names with -, which a mounted key has, and the environment _ for it", function()
    place:write("alerts.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { ["my-token"] = "none", ["a-b"] = "none" }
      k8s.informer "pods"
      k8s.command("show", function(name) return settings[name] end)
    ]])
    temp.write(place.path .. "/mounted/my-token", "from the key\n")
    local engine = start("--params", place.path .. "/mounted", "--param", "a-b=flag")
    assert.are.same({ "from the key", "flag" }, { shown(engine, "my-token"), shown(engine, "a-b") })
    temp.write(place.path .. "/exec.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { ["my-token"] = "none", ["a-b"] = "none" }
      k8s.main(function() print(settings["my-token"], settings["a-b"]) end)
    ]])
    local env = { KUBELUA_PARAM_MY_TOKEN = "variable", KUBELUA_PARAM_A_B = "other" }
    local p = cluster.kubelua { "exec", "-s", sim.server, place.path .. "/exec.lua", "--param", "a-b=flag", env = env }
    assert.are.equal(0, p:wait(), p:report())
    assert.are.equal("variable\tflag\n", p:out())
    place:write("alerts.lua", [[
      local settings = require("k8s").params { ["my-token"] = { type = "url", required = true } }
    ]])
    assert.has_match("set --param my-token=..., a file of --params, or KUBELUA_PARAM_MY_TOKEN", refusal(), 1, true)
    place:write("alerts.lua", 'local settings = require("k8s").params { ["my-token"] = "a", my_token = "b" }')
    local both = cluster.kubelua { "run", "-s", sim.server, "-f", place.path .. "/scripts",
      env = { KUBELUA_PARAM_MY_TOKEN = "variable" } }
    assert.are.equal(2, both:wait())
    assert.has_match("KUBELUA_PARAM_MY_TOKEN", both:err(), 1, true)
  end)

  it("come from the environment, which flags and files override", function()
    local env = { KUBELUA_PARAM_WEBHOOK = "http://environment/", KUBELUA_PARAM_MODE = "hard" }
    temp.write(place.path .. "/exec.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { webhook = { type = "url", required = true }, mode = "none" }
      k8s.main(function() print(settings.webhook, settings.mode) end)
    ]])
    local p = cluster.kubelua { "exec", place.path .. "/exec.lua", "-s", sim.server, "--param", "mode=soft", env = env }
    assert.are.equal(0, p:wait())
    assert.are.equal("http://environment/\tsoft\n", p:out())
  end)

  it("are refused by name and place when they are missing, misspelt or wrong", function()
    local where = " (" .. place.path .. "/scripts/alerts.lua:2)\n"
    assert.has_match("kubelua: the parameter webhook has no value: set --param webhook=..., a file of --params, or "
      .. "KUBELUA_PARAM_WEBHOOK (where alerts go)" .. where, refusal(), 1, true)
    local web = "webhook=http://x"
    for given, text in pairs {
      ["webhook=ftp://x"] = '"ftp://x" is not a URL that begins with http:// or https://',
      ["threshold=0"] = "0 is less than 1, the least value", ["threshold=11"] = "11 is more than 10, the highest value",
      ["threshold=1.5"] = "1.5 is not an integer", ["threshold=x"] = '"x" is not a number',
      ["mode=none"] = "none is none of soft, hard", ["wait=soon"] = '"soon" is not a duration, such as 90s or 1h30m',
    } do
      assert.has_match("kubelua: --param " .. given:match "^%w+" .. ": " .. text .. where,
        refusal("--param", web, "--param", given), 1, true)
    end
    assert.has_match('kubelua: --param thresold: no script or rule has a parameter "thresold", did you mean '
      .. '"threshold"?\n', refusal("--param", web, "--param", "thresold=1"), 1, true)
    assert.has_match('kubelua: --param alert:mode: no script has the name "alert", did you mean "alerts"?\n',
      refusal("--param", web, "--param", "alert:mode=hard"), 1, true)
    local file = place.path .. "/twice.yaml"
    temp.write(file, "webhook: http://x\nthreshold: 8\nalerts:threshold: 7\nthreshold: 9\n")
    assert.has_match(file .. ":4: threshold: is in the file twice\n", refusal("--params", file), 1, true)
  end)

  it("must be qualified where two scripts declare a name with different types", function()
    place:write("other.lua", "local k8s = require 'k8s'\nk8s.params { threshold = 'high' }")
    local given = { "--param", "webhook=http://x", "--param", "threshold=8" }
    assert.has_match("kubelua: --param threshold: the script alerts has an integer, and the script other has a string: "
      .. "write SCRIPT:threshold or RULE.threshold\n", refusal(unpack(given)), 1, true)
    given[4] = "alerts:threshold=8"
    assert.are.equal("8", shown(start(unpack(given)), "threshold"))
  end)

  it("are read again when a file changes, and the script keeps its state", function()
    local file = place.path .. "/params.yaml"
    temp.write(file, "webhook: http://x\nthreshold: 2\n")
    local engine = start("--params", file)
    assert.are.equal("1\n", (engine.ask("call", "count")))
    temp.write(file, "webhook: http://x\nthreshold: 3\n")
    engine.await("alerts", function(s) return s.generation == 2 end)
    assert.are.equal("3", shown(engine, "threshold"))
    assert.are.equal("2\n", (engine.ask("call", "count")))
    temp.write(file, "webhook: http://x\nthreshold: none\n")
    engine:wait_error("Reload refused.*" .. file:gsub("%p", "%%%0") .. ":2: threshold: .*none.* is not a number")
    assert.are.equal("3", shown(engine, "threshold"))
  end)

  it("keep their values when a name in a changed file is misspelt", function()
    local file = place.path .. "/params.yaml"
    temp.write(file, "webhook: http://x\nthreshold: 2\n")
    local engine = start("--params", file)
    temp.write(file, "webhook: http://x\nthreshhold: 9\n")
    local refused = engine.await("alerts", function(s) return s.reloadError ~= "" end)
    assert.has_match('params.yaml:2: threshhold: no script or rule has a parameter "threshhold", did you mean',
      refused.reloadError, 1, true)
    assert.equal(1, refused.generation)
    temp.write(file, "webhook: http://x\nthreshold: 9\n")
    assert.equal("", engine.await("alerts", function(s) return s.generation == 2 end).reloadError)
  end)

  -- Beside alerts.lua: what it declares goes with its file.
  local OTHER = [[
    local k8s = require "k8s"
    local settings = k8s.params { other = 1 }
    k8s.command("other", function() return settings.other end)
  ]]

  it("change though nothing declares another name any more", function()
    local file = place.path .. "/params.yaml"
    temp.write(file, "webhook: http://x\nthreshold: 2\nother: 3\n")
    place:write("other.lua", OTHER)
    local engine = start("--params", file, "--param", "other:other=5")
    os.remove(place.path .. "/scripts/other.lua")
    engine:wait_error '"Parameter is not used"'
    temp.write(file, "webhook: http://x\nthreshold: 3\nother: 3\n")
    local changed = engine.await("alerts", function(s) return s.generation == 2 or s.reloadError ~= "" end)
    assert.equal("", changed.reloadError)
    assert.equal("3", shown(engine, "threshold"))
  end)

  it("come before the script that declares them", function()
    local file = place.path .. "/params.yaml"
    temp.write(file, "webhook: http://x\nthreshold: 2\n")
    local engine = start("--params", file)
    temp.write(file, "webhook: http://x\nthreshold: 3\nother: 7\n")
    local refused = engine.await("alerts", function(s) return s.reloadError ~= "" end)
    assert.has_match('params.yaml:3: other: no script or rule has a parameter "other"', refused.reloadError, 1, true)
    place:write("other.lua", OTHER)
    engine.await("alerts", function(s) return s.generation == 2 end)
    assert.same({ "3", "7\n" }, { shown(engine, "threshold"), (engine.ask("call", "other")) })
  end)

  it("follow a mounted folder, whose files are exchanged by a link", function()
    local mounted = place.path .. "/mounted"
    os.execute(([[mkdir -p %s/..1 %s/..2 && cd %s && echo http://one > ..1/webhook && echo http://two > ..2/webhook
      ln -s ..1 ..data && ln -s ..data/webhook webhook]]):format(mounted, mounted, mounted))
    local engine = start("--params", mounted)
    assert.are.equal("http://one", shown(engine, "webhook"))
    os.execute(("cd %s && ln -s ..2 ..data_tmp && mv -T ..data_tmp ..data"):format(mounted))
    engine.await("alerts", function(s) return s.generation == 2 end)
    assert.are.equal("http://two", shown(engine, "webhook"))
  end)

  it("hide secrets from status, plan and errors", function()
    temp.write(place.path .. "/params.yaml", "webhook: http://x\ntoken: [hunter2]\n")
    local text = refusal("--params", place.path .. "/params.yaml")
    assert.has_match("params.yaml:2: token: the value is not a string", text, 1, true)
    assert.has_no_match("hunter2", text)
    temp.write(place.path .. "/params.yaml", "webhook: http://x\ntoken: hunter2\n")
    local engine = start("--params", place.path .. "/params.yaml")
    assert.are.equal("hunter2", shown(engine, "token"))
    for _, words in ipairs {
      { "status", "-o", "json" }, { "status", "-o", "wide" }, { "plan", "-f", place.path .. "/scripts" }, { "config" },
    } do
      local told, code = engine.ask(unpack(words))
      assert.has_no_match("hunter2", told .. words[1])
      assert.is_true(code == 0 or words[1] == "config", told)
    end
    assert.has_no_match("hunter2", engine:err())
  end)

  it("hide secrets from logs and from stdout of run, whatever the script does", function()
    place:write("alerts.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret" }, short = { type = "secret" } }
      k8s.informer "pods"
      k8s.log.info("has " .. settings.token, { token = settings.token, text = "a" .. settings.token .. "b" })
      k8s.main(function()
        print("printed " .. settings.token, settings.short)
        error("raised " .. settings.token)
      end)
    ]])
    local given = { "--param", "token=sw\"rdfish1", "--param", "short=abc" }
    local engine = start(unpack(given))
    engine:wait_line "^printed %*%*%*\tabc$"
    engine:wait_error '"Main failed".* err="[^"]*raised %*%*%*"'
    assert.has_match('"has ***" script=', engine:err(), 1, true)
    assert.has_match('token="***"', engine:err(), 1, true)
    assert.has_match('text="a***b"', engine:err(), 1, true)
    assert.has_no_match("rdfish", engine:err() .. engine:out())
    temp.write(place.path .. "/exec.lua", [[
      local settings = require("k8s").params { token = { type = "secret" } }
      require("k8s").main(function() print(settings.token) end)
    ]])
    local p = cluster.kubelua { "exec", "-s", sim.server, place.path .. "/exec.lua", given[1], given[2] }
    assert.are.equal(0, p:wait(), p:report())
    assert.are.equal('sw"rdfish1\n', p:out())
  end)

  it("hide secrets from what is told of writes, also in names of objects", function()
    place:write("alerts.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret" } }
      k8s.informer "pods"
      k8s.writes { "configmaps:create" }
      local map = { apiVersion = "v1", kind = "ConfigMap" }
      k8s.command("write", function()
        map.metadata = { name = settings.token, namespace = "default" }
        return assert(k8s.create(map)) and "written"
      end)
    ]])
    local log = place.path .. "/writes.log"
    local engine = start("--param", "token=swordfish1", "--audit-log", log)
    assert.are.equal("written\n", (engine.ask("call", "write")))
    local told = engine.ask("writes", "-o", "json")
    assert.has_match("default/***", told, 1, true)
    assert.has_no_match("swordfish", told)
    assert.has_match("token=***", engine.ask "config", 1, true)
    assert.has_no_match("swordfish", (engine.ask "config"))
    engine:kill "TERM"
    engine:wait()
    assert.has_match("default/***", temp.read(log), 1, true)
    assert.has_no_match("swordfish", temp.read(log))
  end)

  it("hide secrets from errors of call, status and reload, but not from results", function()
    local text = [[
      local k8s = require "k8s"
      local settings = k8s.params { token = { type = "secret" } }
      k8s.informer "pods"
      k8s.command("raise", function() error("raised " .. settings.token) end)
      k8s.command("refuse", function() return nil, { reason = "No", message = "refused " .. settings.token } end)
      k8s.command("show", function() return settings.token end)
      k8s.main(function() error("main " .. settings.token) end)
    ]]
    place:write("alerts.lua", text)
    local engine = start("--param", "token=swordfish1")
    local function err_of(name)
      local _, code, err = engine.ask("call", name)
      return code, err
    end
    local code, err = err_of "raise"
    assert.are.equal(3, code)
    assert.has_match("raised ***", err, 1, true)
    assert.has_no_match("swordfish", err)
    assert.are.same({ 1, "kubelua call: refuse: refused ***\n" }, { err_of "refuse" })
    assert.are.equal("swordfish1\n", (engine.ask("call", "show")))
    local main = engine.await("alerts", function(one) return one.mainState == "failed" end).main
    assert.has_match("main ***", main, 1, true)
    assert.has_no_match("swordfish", main)
    place:write("alerts.lua", text .. 'error("loaded " .. settings.token)')
    local why = engine.await("alerts", function(one) return one.reloadError ~= "" end).reloadError
    assert.has_match("loaded ***", why, 1, true)
    assert.has_no_match("swordfish", why)
  end)

  it("follow a Secret of the cluster", function()
    local SECRETS = "/api/v1/namespaces/default/secrets"
    local function secret(text)
      return {
        apiVersion = "v1", kind = "Secret", metadata = { name = "alerts", namespace = "default" },
        stringData = { token = text },
      }
    end
    sim.api:create(SECRETS, secret "one")
    place:write("alerts.lua", [[
      local k8s = require "k8s"
      local settings = k8s.params {
        token = { type = "secret", from = "secret:default/alerts/token", required = true },
      }
      k8s.main(function() print("token " .. settings.token) end)
      k8s.command("show", function() return settings.token end)
    ]])
    local engine = start()
    engine:wait_line "token one"
    sim.api:request("PUT", SECRETS .. "/alerts", secret "two")
    await(function() return shown(engine, "token") == "two" end)
    sim.api:request("DELETE", SECRETS .. "/alerts")
    await(function()
      local _, _, text = engine.ask("call", "show")
      return text:find("settings.token: the secret default/alerts does not exist, or was not read yet", 1, true)
    end, function() return engine:report() end)
    local rbac = cluster.kubelua { "rbac", "-f", place.path .. "/scripts" }
    assert.are.equal(0, rbac:wait())
    assert.has_match("secrets", rbac:out())
  end)

  it("are what check misses, and os.getenv names", function()
    local check = cluster.kubelua { "check", "-f", place.path .. "/scripts" }
    assert.are.equal(0, check:wait())
    assert.has_match("alerts.lua:3: warning: parameter webhook has no value: run needs a URL", check:out(), 1, true)
    place:write("alerts.lua", "local _ = os.getenv 'HOME'")
    assert.has_match("os.getenv does not exist: declare settings by k8s.params", refusal(), 1, true)
  end)
end)
