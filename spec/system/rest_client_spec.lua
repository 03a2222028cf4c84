-- Requests to the server as operators see them: the client-side rate limit, timeouts, and what is counted.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"
local live = require "spec.support.live"
local proc = require "spec.support.proc"

describe("requests #threads", function()
  local sim

  before_each(function() sim = live.sim() end)
  after_each(cluster.stop_all)

  local reads = [[
    for i = 1, 3 do print(k8s.get("configmaps", "default/map-" .. i).data.colour) end
  ]]

  it("take their turns with --kube-api-qps, and the log reports it (H-1, H-2)", function()
    local before = proc.now()
    local engine = live.start("--server=" .. sim.server, reads, "--kube-api-qps=0.8", "--kube-api-burst=2")
    assert.are.equal(0, engine:wait(30), engine:report())
    assert.are.equal("red\ngreen\nblue\n", engine:out())
    -- Two of discovery at once, then one in 1.25 seconds.
    assert.is_true(proc.now() - before >= 3.7)
    assert.has_match('client%-side throttling %(%-%-kube%-api%-qps%)" method="GET" path="/api', engine:err())
  end)

  it("for a lease do not wait for it", function()
    local p = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.on_leader(function() print "start" end, function() print "stop" end)
    ]], {
      "--kube-api-qps=0.1", "--kube-api-burst=1", "--leader-elect", "--leader-elect-lease-duration=3s",
      "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms",
    })
    p:wait_line("^start$", 60)
    local path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/kubelua"
    for _ = 1, 6 do -- longer than the deadline of a renewal
      local before = sim.api:get(path).spec.renewTime
      await(function() return sim.api:get(path).spec.renewTime > before end)
    end
    assert.is_nil(p:out():find "stop")
    p:kill "KILL"
  end)

  it("are as fast as the server without it", function()
    local before = proc.now()
    live.run("--server=" .. sim.server, reads)
    assert.is_true(proc.now() - before < 3)
  end)

  it("end after --request-timeout, a watch does not (C-13, H-11)", function()
    sim:play { ["do"] = "fault", verb = "get", resource = "configmaps", what = "silence", times = 0 }
    local out = live.run("--server=" .. sim.server, [[
      local nothing, err = k8s.get("configmaps", "default/map-1")
      print(nothing, err.message)
    ]], "--request-timeout=300ms")
    assert.has_match("no response within 0.3 s (--request-timeout)", out, 1, true)
    out = live.run("--server=" .. sim.server, [[
      local stop = k8s.now() + 1
      for ev in watch { timeout = "1s" } do print(ev.type) end
      print(k8s.now() >= stop)
    ]], "--request-timeout=300ms")
    assert.are.equal("true\n", out)
  end)

  it("are counted by client-go's names (H-16)", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "configmaps:get" }
      k8s.informer("configmaps"):on_add(function() end)
      k8s.main(function()
        k8s.get("configmaps", "default/nobody")
        print "done"
      end)
    ]], { "--metrics-bind-address", "127.0.0.1:0" })
    local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    engine:wait_line "^done$"
    local _, page = http:curl("GET", "/metrics")
    local host = sim.server:match "//(.*)$"
    local function value(name, labels)
      local line = ('%s{%s,host="%s"} '):format(name, labels, host)
      local at = assert(select(2, page:find(line, 1, true)), line .. "\n" .. page)
      return tonumber(page:match("%S+", at + 1))
    end
    assert.are.equal(1, value("rest_client_requests_total", 'code="404",method="GET"'))
    assert.is_true(value("rest_client_requests_total", 'code="200",method="GET"') >= 3)
    assert.is_true(value("rest_client_request_duration_seconds_count", 'verb="GET"') >= 3)
    assert.is_true(value("rest_client_response_size_bytes_sum", 'verb="GET"') > 1000)
  end)

  it("for a list that the server throttles are in the log and the status while they wait, too", function()
    local socket = temp.name() .. ".sock"
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "configmaps:list" }
      k8s.main(function() print("listed", #k8s.list("configmaps", { namespace = "default" })) end)
    ]]
    sim:play {
      ["do"] = "fault", verb = "list", resource = "configmaps", what = "status", code = 429, retry_after = 2, times = 2,
    }
    local engine = cluster.run(sim.server, script, { "--admin-socket", socket })
    await(function()
      local p = cluster.kubelua { "status", "--admin-socket", socket }
      p:wait()
      return p:out():match "\nserver: throttles 1 request %(429%) for %d+s\n"
    end, "the head of the status")
    engine:wait_line "^listed\t"
    assert.has_match('Server throttles requests, retrying" server="[^"]+" method="GET" '
      .. 'path="/api/v1/namespaces/default/configmaps[?"]', engine:err())
    local p = cluster.kubelua { "status", "--admin-socket", socket }
    p:wait()
    assert.has_no_match("throttles", p:out())
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("that the server throttles are one line of the log and one of the status while they wait", function()
    local socket = temp.name() .. ".sock"
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "configmaps:get" }
      for i = 1, 3 do
        k8s.after("10ms", function() print("colour", k8s.get("configmaps", "default/map-" .. i).data.colour) end)
      end
      k8s.every("60s", function() end)
    ]]
    sim:play {
      ["do"] = "fault", verb = "get", resource = "configmaps", what = "status", code = 429, reason = "TooManyRequests",
      message = "slow down", retry_after = 2, times = 3,
    }
    local engine = cluster.run(sim.server, script, { "--admin-socket", socket })
    local head
    await(function()
      local p = cluster.kubelua { "status", "--admin-socket", socket }
      p:wait()
      head = p:out():match "\nserver: throttles %d requests? %(429%) for %d+s\n"
      return head
    end, "the head of the status")
    for _ = 1, 3 do engine:wait_line "^colour\t" end
    local line = 'Server throttles requests, retrying" server="[^"]+" method="GET" path="/api/v1/namespaces/default/'
      .. 'configmaps/map%-%d" retryInMs=2%d%d%d waits=1'
    assert.has_match(line, engine:err())
    assert.are.equal(1, select(2, engine:err():gsub("Server throttles", "")))
    local p = cluster.kubelua { "status", "--admin-socket", socket }
    p:wait()
    assert.has_no_match("throttles", p:out())
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
