-- --metrics-auth: who may scrape /metrics (E-6).
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

local BAD, GOOD = "planted-token", "user:prometheus"

local function started(sim, args)
  local all = { "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0",
    unpack(args or { "--metrics-auth=token" }) }
  local engine = cluster.run(sim.server, cluster.script 'require("k8s").informer "configmaps"', all)
  engine.address, engine.auth = engine:wait_error 'Serving metrics" address="([^"]+)" auth="(%a+)"'
  engine.probes = api.new { server = "http://" .. engine:wait_error 'Serving health probes" address="([^"]+)"' }
  return engine
end

-- A curl that goes on in the background: prints headers and body.
local function begin(engine, token)
  return proc.spawn { "curl", "--silent", "--include", "--max-time", "60", "--header",
    token and "Authorization: Bearer " .. token or "X-None: 1", "http://" .. engine.address .. "/metrics" }
end

local function code_of(p) return tonumber(p:out():match "^HTTP/1.1 (%d+)") end

local function scrape(engine, token)
  local p = begin(engine, token)
  p:wait(60)
  return code_of(p), p:out()
end

local function reviews(engine)
  local _, page = scrape(engine, GOOD)
  return tonumber(page:match "\nkubelua_metrics_token_reviews_total (%d+)")
end

local function hold(sim, path, times)
  sim:play { ["do"] = "fault", path = path, what = "silence", times = times or 1, ["for"] = "1h" }
end

describe("--metrics-auth=token #threads", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  it("admits whom the server knows and allows, and nobody else", function()
    local engine = started(sim, { "--metrics-auth=token", "-v", "9" })
    assert.are.equal("token", engine.auth)
    local code, text = scrape(engine)
    assert.are.equal(401, code)
    assert.has_match("\r\nWWW%-Authenticate: Bearer\r\n", text)
    assert.are.equal(401, (scrape(engine, BAD)))
    code, text = scrape(engine, GOOD)
    assert.are.equal(200, code)
    assert.has_match("\nkubelua_build_info{", text, 1, true)
    sim:play { ["do"] = "fault", verb = "get", path = "/metrics", what = "status", code = 403, times = 0 }
    assert.are.equal(403, (scrape(engine, "user:other")))
    assert.are.equal(200, (scrape(engine, GOOD)))
    assert.are.equal(404, (api.new { server = "http://" .. engine.address }:curl("GET", "/other")))
    assert.are.equal(0, cluster.terminate(engine))
    assert.is_nil(engine:err():find(BAD, 1, true))
    assert.is_nil(engine:err():find(GOOD, 1, true))
  end)

  it("asks once for a token that comes again", function()
    local engine = started(sim)
    local before = reviews(engine)
    for _ = 1, 5 do assert.are.equal(401, (scrape(engine, BAD))) end
    local after = reviews(engine)
    -- GOOD and BAD once each, and on a slow machine once more after ten seconds.
    assert.is_true(after - before <= 3, ("%d, then %d"):format(before, after))
  end)

  it("keeps neither probes nor other scrapes waiting for a slow review", function()
    local engine = started(sim)
    assert.are.equal(200, (scrape(engine, GOOD)))
    hold(sim, "/apis/authentication.k8s.io")
    local before = reviews(engine)
    local slow, same = begin(engine, "user:slow"), begin(engine, "user:slow")
    await(function() return reviews(engine) > before end, "the review")
    for _ = 1, 3 do
      assert.are.equal(200, (scrape(engine, GOOD)))
      assert.are.equal(401, (scrape(engine)))
      assert.are.equal(200, (engine.probes:curl("GET", "/livez")))
    end
    assert.are.same({ "", "" }, { slow:out(), same:out() })
    slow:wait(60)
    same:wait(60)
    assert.are.same({ 503, 503 }, { code_of(slow), code_of(same) })
    engine:wait_error 'Failed to review the token of a scrape, responding 503" err="POST /apis/authentication'
    assert.are.equal(200, (scrape(engine, "user:slow")))
    engine:wait_error "Tokens of scrapes are reviewed again"
  end)

  it("has ten reviews in flight at most", function()
    local engine = started(sim)
    local before, scrapes = reviews(engine), {}
    hold(sim, "/apis/authentication.k8s.io", 0)
    for i = 1, 15 do scrapes[i] = begin(engine, "user:" .. i) end
    await(function() return reviews(engine) == before + 10 end, "ten reviews")
    for _ = 1, 5 do assert.are.equal(before + 10, reviews(engine)) end
    sim:play { ["do"] = "clear" }
    for _, p in ipairs(scrapes) do
      p:wait(60)
      local code = code_of(p)
      assert.is_true(code == 503 or code == 200, tostring(code))
    end
    assert.are.equal(200, (scrape(engine, "user:after")))
  end)

  it("ends while a review is under way", function()
    local engine = started(sim)
    hold(sim, "/apis/authorization.k8s.io")
    local slow = begin(engine, GOOD)
    assert.are.equal(401, (scrape(engine, BAD)))
    assert.are.equal(0, cluster.terminate(engine))
    slow:wait(60)
    assert.are_not.equal(200, code_of(slow))
  end)

  it("is the default, unless only this machine can scrape", function()
    for address, expected in pairs { ["127.0.0.1:0"] = "none", ["localhost:0"] = "none", [":0"] = "token",
      ["0.0.0.0:0"] = "token" } do
      assert.are.equal(expected, started(sim, { "--metrics-bind-address", address }).auth, address)
    end
    local open = started(sim, { "--metrics-bind-address=0.0.0.0:0", "--metrics-auth=none" })
    assert.are.equal("none", open.auth)
    assert.are.equal(200, (scrape({ address = "127.0.0.1:" .. open.address:match ":(%d+)$" })))
  end)
end)
