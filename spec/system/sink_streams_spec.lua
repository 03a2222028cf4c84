-- Sinks to NATS JetStream (nats-server) and to Kafka (librdkafka's cluster in memory): brokers that restart, engines
-- that are killed. No key out of order, none lost; what comes twice has the same id. Not under ThreadSanitizer, which
-- knows nothing of librdkafka's threads.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local k8s = require "k8s"
  local settings = k8s.params {
    to = { type = "string", required = true },
    from = { type = "integer", default = 1 },
    count = { type = "integer", default = 1000000 },
  }
  local sink = k8s.sink { name = "out", to = settings.to, type = "t", timeout = "5s" }
  k8s.main(function()
    for n = settings.from, settings.from + settings.count do
      local key = "k" .. n % 7
      local ok, err = sink:publish({ data = { n = n } }, { key = key, id = key .. "/" .. n })
      print(ok and "stored " .. n or "failed " .. err.message)
    end
  end)
]]

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local tools = binary:match "^(.*)/" .. "/streams/"

local function is_there(path)
  local file = io.open(path)
  return file and file:close()
end

-- Each id up to `stored` is there, the first time in the order of its key. Returns how many came twice.
local function check_order(ids, stored, about)
  local seen, last, twice, lost = {}, {}, 0, {}
  for _, id in ipairs(ids) do
    local key, n = id:match "^(k%d)/(%d+)$"
    n = tonumber(n)
    if seen[n] then
      twice = twice + 1
    else
      if n <= (last[key] or 0) then error(("%s came after %s; %s"):format(id, last[key], about)) end
      last[key], seen[n] = n, true
    end
  end
  for n = 1, stored do
    if not seen[n] then lost[#lost + 1] = n end
  end
  assert.are.equal(0, #lost, ("%s is lost; %s"):format(tostring(lost[1]), about))
  return twice
end

describe("a sink of a stream", function()
  local sim, folder, broker
  before_each(function() sim, folder = cluster.sim(), temp.folder() end)
  after_each(function()
    cluster.stop_all()
    if broker then
      broker:kill "KILL"
      broker:wait()
    end
    broker = nil
    temp.remove(folder)
  end)

  local function run(to, from, count)
    temp.write(folder .. "/it.lua", SCRIPT)
    return cluster.run(sim.server, folder .. "/it.lua", {
      "--state-dir", folder .. "/states", "--allow-sink", to:match "^%a+://" .. "*", "--param", "to=" .. to,
      "--param", "from=" .. from, "--param", "count=" .. count,
    })
  end

  local function pump(engine, seconds)
    local deadline = proc.now() + seconds
    while proc.now() < deadline do engine:pump(deadline) end
  end

  -- Four engines, of which three are killed; `trouble(i)` is what happens to the broker of each meanwhile.
  local function publish(to, trouble)
    local seed, stored, report = tonumber(os.getenv "SEED" or os.time()), 0, {}
    math.randomseed(seed)
    for i = 1, 4 do
      local engine = run(to, stored + 1, i < 4 and 1000000 or 200)
      engine:wait_line "^stored"
      pump(engine, math.random() * 0.4)
      trouble(i)
      pump(engine, math.random() * 0.8)
      if i < 4 then
        engine:kill "KILL"
        engine:wait()
      else
        engine:wait_line("^stored " .. stored + 201)
        assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
      end
      assert.is_nil(engine:out():find "failed", engine:report())
      for n in engine:out():gmatch "stored (%d+)" do stored = math.max(stored, tonumber(n)) end
      report[i] = ("engine %d: up to %d\n%s"):format(i, stored, engine:err())
    end
    -- The last one may have ended while it could not deliver: the next start does.
    for i = 5, 8 do
      if not report[i - 1]:find "Events stay in the spool" then break end
      assert.is_true(i < 8, table.concat(report, "\n"))
      local engine = run(to, stored + 1, 0)
      engine:wait_line "^stored"
      pump(engine, 1)
      assert.are.equal(0, cluster.terminate(engine, 40), engine:report())
      stored = stored + 1
      report[i] = engine:err()
    end
    return stored, ("SEED=%d\n"):format(seed) .. table.concat(report, "\n")
  end

  -- CI has everything.
  local function left_out(why)
    assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", why)
    pending(why)
  end

  it("delivers to JetStream while nats-server restarts", function()
    if not is_there(tools .. "nats_stream") or temp.run "command -v nats-server" == "" then
      return left_out "libnats-dev and nats-server are not installed"
    end
    local function start(port)
      local server = proc.spawn {
        "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", tostring(port),
      }
      server.port = server:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
      server:wait_error "Server is ready"
      return server
    end
    broker = start(-1)
    local url = "nats://127.0.0.1:" .. broker.port
    local tool = tools .. "nats_stream " .. url
    assert.are.equal("created\n", (temp.run(tool .. " create events.test")))
    local stored, about = publish(url .. "/events.test", function(i)
      if i % 2 == 1 then return end
      broker:kill "KILL"
      broker:wait()
      broker = start(broker.port)
    end)
    local dump, ids = temp.run(tool .. " dump"), {}
    assert.matches("\nend\n$", dump)
    for id in dump:gmatch "(k%d/%d+)\n" do ids[#ids + 1] = id end
    print(("# nats: %d events, %d came twice"):format(stored, check_order(ids, stored, about)))
    assert.is_true(stored > 100)
  end)

  it("is refused where the package is not installed, which the error names", function()
    -- Beside this copy of the program there are no modules.
    os.execute(("cp %s %s/kubelua"):format(binary, folder))
    temp.write(folder .. "/it.lua", SCRIPT)
    for _, scheme in ipairs { "nats", "kafka" } do
      local text = temp.run(("%s/kubelua exec %s/it.lua -s %s --state-dir %s/states --allow-sink '%s' --param to=%s")
        :format(folder, folder, sim.server, folder, scheme .. "://*", scheme .. "://127.0.0.1:9/topic"))
      local message = "k8s.sink: out: " .. scheme .. ":// needs the package kubelua%-streams, which is not installed"
      assert.matches(message, text)
    end
    local text = temp.run(("%s exec %s/it.lua -s %s --state-dir %s/states --allow-sink kafka://a:1 --param to=%s")
      :format(binary, folder, sim.server, folder, "kafka://a:1,b:1/topic"))
    assert.matches("kafka://b:1 is not allowed; %-%-allow%-sink allows targets", text)
  end)

  it("delivers to Kafka while brokers go and requests fail", function()
    if not is_there(tools .. "kafka_mock") then
      return left_out "librdkafka-dev is not installed"
    end
    broker = proc.spawn { tools .. "kafka_mock" }
    local to = "kafka://" .. broker:wait_line "^brokers (.*)$" .. "/events"
    local stored, about = publish(to, function(i)
      broker:write(i % 2 == 1 and "lose\n" or "down 1\n")
      if i % 2 == 0 then
        os.execute "sleep 0.3"
        broker:write "up 1\n"
      end
    end)
    broker:write "dump\n"
    broker:wait_line("^end$", 40)
    local ids, places = {}, {}
    for partition, key, id in broker:out():gmatch '(%d) (k%d) {"specversion":"1.0",[^\n]-"id":"(k%d/%d+)"' do
      assert.are.equal(partition, places[key] or partition)
      places[key] = partition
      ids[#ids + 1] = id
    end
    print(("# kafka: %d events, %d came twice"):format(stored, check_order(ids, stored, about)))
    assert.is_true(stored > 100)
  end)
end)
