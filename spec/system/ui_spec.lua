-- `kubelua run --ui-bind-address`: a page about the engine, as HTTP and as a browser see it.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local BUSY = scripts_folder.HEAD .. [[
  k8s.writes { "configmaps:patch" }
  local maps = k8s.informer "configmaps"
  maps:on_update(function(_, map)
    if not map:label "seen" then assert(k8s.patch(map, { metadata = { labels = { seen = "yes" } } })) end
  end, { id = "labels" })
  maps:on_update(function() end, { id = "other" })
  k8s.queue { name = "work" }
  k8s.main(function() print "ready" end)
]]

local WRONG = scripts_folder.HEAD .. 'k8s.every("300ms", function() error "no" end)'
local FAILS = scripts_folder.HEAD .. 'k8s.main(function() error "<b>no</b>" end)'

describe("the page of an engine", function()
  local place, sim, engine, address
  before_each(function()
    place = scripts_folder.new()
    place:write("busy.lua", BUSY)
    place:write("fails.lua", FAILS)
    sim = cluster.sim()
    sim.api:create("/api/v1/namespaces/default/configmaps",
      { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "map" } })
    engine = cluster.run(sim.server, place.path .. "/scripts", { "--ui-bind-address", "127.0.0.1:0" })
    address = engine:wait_error 'Serving a page about the engine" address="([^"]+)"'
    engine:wait_line "^ready$"
    sim.api:patch("/api/v1/namespaces/default/configmaps/map", { data = { a = "b" } })
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  -- Status and text of a response.
  local function get(path, ...)
    local flags = table.concat({ ... }, " ")
    local text = temp.run(("curl -s -w '\\n%%{http_code}' %s http://%s%s"):format(flags, address, path))
    local body, code = text:match "^(.*)\n(%d+)%s*$"
    return tonumber(code), body
  end

  it("gives the state and itself, and lets browsers load nothing from elsewhere", function()
    local code, body = get "/state.json"
    assert.are.equal(200, code)
    local state = cjson.decode(body)
    assert.are.equal(2, #state.status.scripts)
    assert.is_table(state.writes)
    assert.are.equal(address, state.status.engine.pageAddress)
    for _, path in ipairs { "/", "/ui.js", "/ui.css" } do assert.are.equal(200, (get(path))) end
    assert.are.equal(404, (get "/scripts"))
    local _, head = get("/", "-i")
    assert.has_match("Content-Security-Policy: default-src 'none'; script-src 'self'", head, 1, true)
    assert.has_no_match("https?://", (select(2, get "/")))
  end)

  it("is where `kubelua status` says", function()
    local other = place:start(sim, nil, { "--ui-bind-address", "127.0.0.1:0" })
    local where = other:err():match 'Serving a page about the engine" address="([^"]+)"'
    assert.has_match("\npage http://" .. where .. "/\n", (other.ask "status"), 1, true)
  end)

  it("refuses other names, other pages, and all that is no GET", function()
    for _, host in ipairs { "evil.example.com", "localhost.evil.com:80", "127.0.0.1.evil.com", "[", ":80" } do
      assert.are.equal(403, (get("/state.json", "-H 'Host: " .. host .. "'")), host)
    end
    for _, host in ipairs { "localhost", "localhost:9", "127.0.0.1:9", "[::1]:9", "10.0.0.7" } do
      assert.are.equal(200, (get("/state.json", "-H 'Host: " .. host .. "'")), host)
    end
    for _, origin in ipairs { "http://evil.example.com", "null", "https://" .. address } do
      assert.are.equal(403, (get("/state.json", "-H 'Origin: " .. origin .. "'")), origin)
    end
    assert.are.equal(200, (get("/state.json", "-H 'Origin: http://" .. address .. "'")))
    for _, method in ipairs { "POST", "PUT", "DELETE", "OPTIONS" } do
      assert.are.equal(405, (get("/state.json", "-X " .. method)), method)
    end
  end)

  it("ends with its engine, also while somebody waits", function()
    local often = "for i in 1 2 3 4 5 6; do curl -s -m 5 http://%s/state.json; done >/dev/null 2>&1 &"
    for _ = 1, 8 do io.popen(often:format(address)) end
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- The page as a browser has it after some looks, again until it has the text. Where there is no browser the test ends
  -- as pending.
  local function browse(text)
    local browser = "spec/support/readers browser --virtual-time-budget=9000 --dump-dom http://%s/"
    local deadline = proc.now() + proc.patience(40)
    local page, code
    repeat page, code = temp.run(browser:format(address))
    until code == 3 or page:find(text, 1, true) or proc.now() > deadline
    assert(code ~= 3 or not os.getenv "KUBELUA_REQUIRE_REAL", page) -- CI has one
    if code == 3 then pending(page) end
    return page
  end

  it("is read by a browser", function()
    local page = browse ">patch</td>"
    assert.has_match("up %d+s, cpu %d+%.%d%%, memory [%d.]+Mi", page)
    assert.has_match('<button data%-script="[^"]*/busy" aria%-expanded="false" title="2 handlers">', page)
    assert.has_match('<td class="good">synced</td>', page, 1, true)
    assert.has_match('<td class="bad">main failed</td>', page, 1, true)
    assert.has_match("<li>[^<]*/fails: failed: [^<]*&lt;b&gt;no&lt;/b&gt;</li>", page)
    assert.has_match('>patch</td><td class="name">configmaps default/map<', page, 1, true)
    assert.has_match(">work</td>", page, 1, true)
    assert.has_match("<polyline points=", page, 1, true)
  end)

  it("shows scripts that fail", function()
    place:write("wrong.lua", WRONG)
    local other = place:start(sim, nil, { "--ui-bind-address", "127.0.0.1:0" })
    address = other:err():match 'Serving a page about the engine" address="([^"]+)"'
    local page = browse "/wrong: fails since 20"
    assert.has_match('/wrong<small>[^<]+</small></td><td class="bad">fails for %w+</td>', page)
  end)

  it("shows states that cannot be stored", function()
    local dir = place.path .. "/states"
    place:write("keeps.lua", scripts_folder.HEAD .. [[
      local kept = k8s.state("seen", { keep = "file", init = { n = 0 } })
      k8s.command("add", function() kept.n = kept.n + 1 return (kept:sync()) and "stored" or "refused" end)
    ]])
    local other = place:start(sim, nil, { "--ui-bind-address", "127.0.0.1:0", "--state-dir", dir })
    assert.equal("stored\n", (other.ask("call", "add")))
    temp.write(dir .. "/keeps/seen.state", "other")
    assert.equal("refused\n", (other.ask("call", "add")))
    address = other:err():match 'Serving a page about the engine" address="([^"]+)"'
    local page = browse "was changed by another process"
    assert.has_match("<li>[^<]*/keeps: seen: [^<]*seen%.state was changed by another process", page)
  end)

  it("says what is wrong with its address", function()
    local p = cluster.run(sim.server, place.path .. "/scripts", { "--ui-bind-address", address })
    assert.are.equal(2, p:wait())
    assert.has_match("--ui-bind-address: ", p:err(), 1, true)
  end)
end)
