-- /metrics of a running engine, in the form that Prometheus reads.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local function measured(server, script)
  local engine = cluster.run(server, cluster.script(script), { "--metrics-bind-address", "127.0.0.1:0" })
  local http = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
  function engine.metrics()
    local code, text = http:curl("GET", "/metrics")
    assert.are.equal(200, code)
    return text
  end
  return engine
end

-- Every sample by its name and labels; raises when the text is not what Prometheus takes.
local function parse(text)
  local samples, typed, helped = {}, {}, {}
  for line in text:gmatch "([^\n]*)\n" do
    local name, kind = line:match "^# TYPE ([%a_:][%w_:]*) (%a+)$"
    local help = line:match "^# HELP ([%a_:][%w_:]*) .+$"
    if name then
      assert.is_nil(typed[name], name .. " has its type twice")
      typed[name] = kind
    elseif help then
      helped[help] = true
    else
      local series, value = line:match "^(.-) (%S+)$"
      local base = assert(series, "not a sample: " .. line):match "^[%a_:][%w_:]*"
      local family = typed[base] and base or base:gsub("_bucket$", ""):gsub("_sum$", ""):gsub("_count$", "")
      assert.is_truthy(typed[family] and helped[family], line .. ": no TYPE or HELP before it")
      assert.is_nil(samples[series], series .. " comes twice")
      samples[series] = assert(tonumber(value), line)
    end
  end
  return samples, typed
end

-- Reads the page until a sample has this value.
local function await_sample(engine, name, value)
  local samples
  return await(function()
    samples = parse(engine.metrics())
    return samples[name] == value and samples
  end, function() return ("%s is %s"):format(name, samples[name]) .. engine:report() end)
end

describe("the metrics of kubelua run #threads", function()
  after_each(cluster.stop_all)

  it("have those that scripts make", function()
    local sim = cluster.sim()
    local pods = "/api/v1/namespaces/default/pods"
    local spec = { containers = { { name = "main", image = "web" } } }
    for _, name in ipairs { "a", "b" } do
      sim.api:create(pods, { apiVersion = "v1", kind = "Pod", metadata = { name = name }, spec = spec })
    end
    local example = assert(io.open "scripts/phase_metrics.lua")
    local engine = measured(sim.server, example:read "*a")
    example:close()
    local script = await(function()
      return engine.metrics():match 'kubelua_script_memory_bytes{script="([^"]+)"}'
    end, "the script's name")
    local function phase(name)
      return ('pods_in_phase{script="%s",namespace="default",phase="%s"}'):format(script, name)
    end
    await_sample(engine, phase "Pending", 2)
    sim.api:patch(pods .. "/a/status", { status = { phase = "Running" } })
    local samples = await_sample(engine, phase "Running", 1)
    assert.equal(1, samples[phase "Pending"])
    assert.equal(1, samples[('pod_start_seconds_count{script="%s"}'):format(script)])
    assert.equal(1, samples[('pod_start_seconds_bucket{script="%s",le="300"}'):format(script)])
    cluster.terminate(engine)
  end)

  it("are a page that Prometheus reads, with the process and the handlers in it", function()
    local sim = cluster.sim { "--pods", "20" }
    local engine = measured(sim.server, [[
      local k8s = require "k8s"
      local calls = 0
      k8s.informer("pods"):add_event_handler {
        id = "seen",
        OnAdd = function()
          calls = calls + 1
          if calls == 7 then error "the seventh" end
        end,
        OnUpdate = function() print "updated" end,
      }
      k8s.main(function() print "synced" end)
    ]])
    engine:wait_line "^synced$"
    sim:play { ["do"] = "touch", resource = "pods", pick = 1 }
    engine:wait_line "^updated$"
    local script = await(function()
      return engine.metrics():match 'kubelua_script_memory_bytes{script="([^"]+)"}'
    end, "the script's name")
    local labels = ('{script="%s",handler="seen"'):format(script)
    local samples = await_sample(engine, "kubelua_handler_duration_seconds_count" .. labels .. ',event="OnUpdate"}', 1)
    assert.are.equal(20, samples["kubelua_handler_duration_seconds_count" .. labels .. ',event="OnAdd"}'])
    assert.are.equal(20, samples["kubelua_handler_duration_seconds_bucket" .. labels .. ',event="OnAdd",le="+Inf"}'])
    assert.are.equal(1, samples["kubelua_handler_errors_total" .. labels .. "}"])
    assert.are.equal(21, samples["kubelua_event_latency_seconds_count" .. labels .. "}"])
    assert.is_true(samples["kubelua_script_memory_bytes{script=\"" .. script .. "\"}"] > 10000)
    assert.is_true(samples.process_resident_memory_bytes > 1e6)
    assert.is_true(samples.process_cpu_seconds_total > 0)
    assert.is_true(samples.process_open_fds > 5)
    assert.is_true(math.abs(samples.process_start_time_seconds - os.time()) < 600)
    assert.are.equal(0, samples.kubelua_objects_refused_total)
    assert.is_true(samples.kubelua_dictionary_keys > 20 and samples.kubelua_dictionary_shapes > 5)
  end)

  -- I-22, I-24: client-go's names and labels.
  it("have the lists, watches and caches of each informer, as long as it lives", function()
    local sim = cluster.sim { "--pods", "20" }
    local engine = measured(sim.server, [[
      require("k8s").informer("pods", { namespace = "team-001" }):on_update(function() print "updated" end)
      require("k8s").informer "deployments"
    ]])
    local of = '{name="%s",resource_type="%s"}'
    local pods, deployments = of:format("pods in team-001", "pods"), of:format("deployments.apps", "deployments.apps")
    local count = #sim.api:get("/api/v1/namespaces/team-001/pods").items
    assert.is_true(count > 0)
    await_sample(engine, 'kubelua_cache_objects{name="pods in team-001",resource="pods"}', count)
    sim:play { ["do"] = "touch", resource = "pods", namespace = "team-001", pick = 1 }
    engine:wait_line "^updated$"
    local samples = await_sample(engine, "reflector_watched_objects" .. pods, 1)
    assert.are.equal(1, samples["reflector_lists_total" .. pods] + samples["reflector_watchlists_total" .. pods])
    assert.are.equal(1, samples["reflector_list_duration_seconds_count" .. pods])
    assert.are.equal(count, samples["reflector_listed_items_sum" .. pods])
    assert.are.equal(0, samples["reflector_short_watches_total" .. pods])
    assert.is_true(samples["reflector_watches_total" .. deployments]
      + samples["reflector_watchlists_total" .. deployments] > 0)
    local informer = '{name="pods in team-001",group="",version="v1",resource="pods"'
    assert.are.equal(0, samples["informer_queued_items" .. informer .. "}"])
    assert.is_true(samples["informer_processing_latency_seconds_count" .. informer .. "}"] >= 2)
    local version = samples["informer_store_resource_version" .. informer .. "}"]
    assert.is_true(version > 1e6 and version < 1e15 and version % 1 == 0)
    assert.are.equal(version, samples["reflector_last_resource_version" .. pods])
    assert.is_true(samples['kubelua_cache_bytes{name="pods in team-001",resource="pods"}'] ~= nil)
  end)

  -- B-7: an alert on `kubelua_informer_up == 0` fires for what was never there too.
  it("have what is not up from the start, and count failed discovery", function()
    local engine = measured("http://127.0.0.1:1", [[ require("k8s").informer("widgets.example.com") ]])
    local samples = await_sample(engine,
      'kubelua_informer_up{name="widgets.example.com",resource="widgets.example.com"}', 0)
    if samples.kubelua_discovery_errors_total == 0 then
      await_sample(engine, "kubelua_discovery_errors_total", 1)
    end
  end)

  it("are not served by exec", function()
    local sim = cluster.sim()
    local script = cluster.script [[ require("k8s").main(function() end) ]]
    local p = cluster.kubelua { "exec", script, "--server", sim.server,
      "--metrics-bind-address", "127.0.0.1:0" }
    assert.are.equal(2, p:wait())
    assert.has_match("unknown flag --metrics-bind-address", p:err(), 1, true)
  end)
end)
