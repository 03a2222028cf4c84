-- The file of --config: settings by the names of flags, what overrides them, SIGHUP, and `kubelua config`.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("--config", function()
  local folder, config, sim
  before_each(function()
    folder, sim = temp.folder(), cluster.sim()
    config = folder .. "/kubelua.yaml"
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function write(text) temp.write(config, text) end

  local function start(flags, env)
    local script = cluster.script [[require("k8s").every("60s", function() end)]]
    local engine = cluster.kubelua { "run", "--server=" .. sim.server, "-f", script, "--config", config,
      "--admin-socket", folder .. "/admin.sock", env = env, unpack(flags or {}) }
    engine:wait_error "Starting"
    return engine
  end

  -- Value and source of each setting.
  local function settings()
    local p = cluster.kubelua { "config", "-ojson", "--admin-socket", folder .. "/admin.sock" }
    assert.are.equal(0, p:wait(), p:err())
    local by_name = {}
    for _, one in ipairs(cjson.decode(p:out()).settings) do by_name[one.name] = { one.value, one.source } end
    return by_name
  end

  -- What `run` says of the file, which it ends with.
  local function refusal(text)
    write(text)
    local p = cluster.kubelua { "run", "-f", "none.lua", "--config", config }
    assert.are.equal(2, p:wait(), p:report())
    return (p:err():gsub("^kubelua run: ", ""):gsub(folder, "F"))
  end

  it("sets flags, which the environment and the command line override; config tells where each is from", function()
    write [[
# scalars, sequences, and maps for NAME=VALUE
shutdown-timeout: 3s
kube-api-qps: 12.5
resync: 90
max-object-size: 4Mi
allow-http: [a.example, "b.example:8080"]
limit:
  timers: 50
  writes: 100
token: a-secret
]]
    start({ "--kube-api-qps", "7" }, { KUBELUA_RESYNC = "2m" })
    local all = settings()
    assert.are.same({ "3s", config .. ":2" }, all["shutdown-timeout"])
    assert.are.same({ "7", "--kube-api-qps" }, all["kube-api-qps"])
    assert.are.same({ "2m", "KUBELUA_RESYNC" }, all.resync)
    assert.are.same({ "4Mi", config .. ":5" }, all["max-object-size"])
    assert.are.same({ "a.example, b.example:8080", config .. ":6" }, all["allow-http"])
    assert.are.same({ "timers=50, writes=100", config .. ":8, " .. config .. ":9" }, all.limit)
    assert.are.same({ "(hidden)", config .. ":10" }, all.token)
    assert.are.same({ "auto", "default" }, all["watch-list"])

    local p = cluster.kubelua { "config", "--admin-socket", folder .. "/admin.sock" }
    assert.are.equal(0, p:wait())
    assert.matches("NAME +VALUE +SOURCE\n", p:out())
    assert.has_no_match("watch%-list", p:out())
    assert.has_no_match("a-secret", p:out() .. cjson.encode(all), 1, true)
  end)

  it("refuses what it does not know or cannot use, with the line and the nearest name", function()
    assert.are.equal('F/kubelua.yaml:2: unknown flag shutdown-timout; did you mean shutdown-timeout?\n',
      refusal "v: 1\nshutdown-timout: 3s\n")
    assert.are.equal('F/kubelua.yaml:1: log-format: "xml" is not text|json\n', refusal "log-format: xml\n")
    assert.are.equal("F/kubelua.yaml:2: v: is in the file twice\n", refusal "v: 1\nv: 2\n")
    assert.are.equal("F/kubelua.yaml:1: config: a file of settings cannot name another\n", refusal "config: x\n")
    assert.are.equal("F/kubelua.yaml:1: v: must be a string, a number or a boolean\n", refusal "v: null\n")
    assert.are.equal("F/kubelua.yaml:1: timers: must be a string, a number or a boolean\n",
      refusal "limit: { timers: [1] }\n")
    assert.are.equal('F/kubelua.yaml:3: limit: unknown limit "timrs"; did you mean timers?\n',
      refusal "v: 1\nlimit:\n  timrs: 5\n")
    assert.matches("^F/kubelua.yaml: must be a mapping of flags to values", refusal "- v\n")
    assert.matches("^F/kubelua.yaml:2: ", refusal "v: 1\n\tx: [\n")
    local p = cluster.kubelua { "run", "-f", "none.lua", "--config", folder .. "/none.yaml" }
    assert.are.equal(2, p:wait())
    assert.matches("none.yaml", p:err())
  end)

  it("is read again on SIGHUP: the log follows, other changes are named, a broken file changes nothing", function()
    write "log-format: text\nresync: 60s\nlimit: { timers: 5 }\n"
    local engine = start()
    write "log-format: json\nresync: 90s\ninformer-grace: 1s\n"
    engine:kill "HUP"
    engine:wait_error '"msg":"Settings changed","log%-format":"json","v":0'
    for _, name in ipairs { "resync", "informer-grace", "limit" } do
      engine:wait_error('it takes effect when the engine starts again","setting":"' .. name:gsub("%-", "%%-"))
    end
    write "log-format: json\nresync: 90s\ninformer-grce: 1s\n"
    engine:kill "HUP"
    engine:wait_error 'has an error","err":"[^"]*:3: unknown flag informer%-grce; did you mean informer%-grace'
    write "log-format: [\n"
    engine:kill "HUP"
    engine:wait_error "the file cannot be read"
    write "resync: 90s\ninformer-grace: 1s\n"
    engine:kill "HUP"
    engine:wait_error '%] "Settings changed" log%-format="text" v=0'
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
