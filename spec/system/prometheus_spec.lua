-- deploy/prometheus and deploy/grafana: alerts fire when they should, and each query of both is answered by a
-- Prometheus that scrapes a running engine. Left out where Prometheus is not installed.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local RULES, DASHBOARD = "deploy/prometheus/kubelua.rules.yaml", "deploy/grafana/kubelua.json"
local missing = os.execute "command -v prometheus promtool >/dev/null" ~= 0

-- Series that exist only after what they count has happened, or without its flag.
local RARE = {
  kubelua_script_limit_waiting = true, kubelua_queue_dropped_total = true, kubelua_writes_total = true,
  kubelua_script_errors_total = true, kubelua_handler_quarantined = true, kubelua_handler_pending_events = true,
  kubelua_sink_spool_events = true, kubelua_sink_failures_total = true, kubelua_sink_events_total = true,
  kubelua_bucket_silent_seconds = true, kubelua_publish_leading = true, kubelua_publish_objects_total = true,
}

-- A script that has what most series are of.
local BUSY = [[
  local k8s = require "k8s"
  local queue = k8s.queue { name = "q" }
  k8s.informer("pods"):on_add(function(pod) queue:add(pod:key()) end, { leader = true })
  queue:run(function() end)
]]

-- The expressions of the rules and of the dashboard, by the place where they stand.
local function expressions()
  local all = {}
  local engine = cluster.kubelua { "exec", "-s", "http://127.0.0.1:1", cluster.script(([[
    local k8s = require "k8s"
    k8s.main(function()
      for _, rule in ipairs(k8s.yaml.decode(%q).groups[1].rules) do
        print((k8s.json.encode { rule.alert, rule.expr }))
      end
    end)
  ]]):format(temp.read(RULES))) }
  assert(engine:wait(30) == 0, engine:report())
  for line in engine:out():gmatch "[^\n]+" do
    local pair = cjson.decode(line)
    all[pair[1]] = pair[2]
  end
  for _, panel in ipairs(cjson.decode(temp.read(DASHBOARD)).panels) do
    for _, target in ipairs(panel.targets or {}) do
      all[panel.title .. " " .. target.refId] = target.expr:gsub("%$instance", ".*"):gsub("%$__rate_interval", "5m")
    end
  end
  return all
end

local function metrics_of(expression)
  local names = {}
  for name in expression:gsub("%b{}", " "):gsub("%b\"\"", " "):gmatch "[%a_][%w_]*" do
    if name:find "^kubelua_" or name:find "^workqueue_" or name:find "^leader_election_" or name:find "^rest_client_"
      or name:find "^process_" then
      names[name] = true
    end
  end
  return names
end

describe("Prometheus", function()
  after_each(cluster.stop_all)

  it("accepts the alerts, which fire and are silent as their tests say", function()
    if missing then return pending "no Prometheus" end
    local out, code = temp.run("promtool check rules " .. RULES .. " 2>&1")
    assert.are.equal(0, code, out)
    out, code = temp.run "promtool test rules deploy/prometheus/kubelua.rules.test.yaml 2>&1"
    assert.are.equal(0, code, out)
  end)

  it("answers each query of the alerts and of the dashboard, from series that exist", function()
    if missing then return pending "no Prometheus" end
    local all = expressions()
    assert.is_string(all.KubeluaCacheStale)
    assert.is_string(all["Latency of events A"])
    local sim = cluster.sim { "--pods", "5" }
    local engine = cluster.run(sim.server, cluster.script(BUSY),
      { "--leader-elect", "--metrics-bind-address=127.0.0.1:0" })
    local target = engine:wait_error '"Serving metrics".*address="([^"]+)"'
    local folder = temp.folder { ["p.yaml"] = ([[
global: {scrape_interval: 1s}
rule_files: [%s]
scrape_configs: [{job_name: kubelua, static_configs: [{targets: ["%s"]}]}]
]]):format(temp.run("realpath " .. RULES):match "%S+", target) }
    local server = proc.spawn { "prometheus", "--config.file", folder .. "/p.yaml", "--storage.tsdb.path",
      folder .. "/data", "--web.listen-address", "127.0.0.1:0" }
    finally(function()
      server:kill "KILL"
      server:wait()
      temp.remove(folder)
    end)
    local address = server:wait_error "Listening on.*address=([%d.:]+)"
    local http = api.new { server = "http://" .. address }
    local function query(expression)
      return http:request("POST", "/api/v1/query", "query=" .. expression:gsub("[^%w]", function(c)
        return ("%%%02X"):format(c:byte())
      end), "application/x-www-form-urlencoded").data.result
    end
    await(function() return http:curl("GET", "/-/ready") == 200 end, "Prometheus")
    await(function() return #query "kubelua_cache_objects > 0" > 0 end, "a scrape")
    await(function() return #query "max(leader_election_master_status) == 1" > 0 end, "a leader")
    await(function() return #query "kubelua_event_latency_seconds_count" > 0 end, "an event")
    -- check-metrics compares the page with the source.
    local documented = temp.read("docs/metrics.md")
    for place, expression in pairs(all) do
      assert.is_table(query(expression), place)
      for name in pairs(metrics_of(expression)) do
        local base = name:gsub("_bucket$", ""):gsub("_sum$", ""):gsub("_count$", "")
        assert(documented:find("`" .. base .. "`", 1, true), place .. ": there is no metric " .. name)
        local found = RARE[name] or #query("{__name__=\"" .. name .. "\"}") > 0
        assert(found, place .. ": there is no series " .. name)
      end
    end
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
