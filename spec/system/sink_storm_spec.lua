-- Sinks in a storm (spec/support/sink_storm.lua): engines are killed, targets restart, disks are full. No event is
-- lost, none comes out of the order of its key.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local storm = require "spec.support.sink_storm"
local temp = require "spec.support.temp"

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local tools = binary:match "^(.*)/" .. "/streams/"

local function is_there(path)
  local file = io.open(path)
  return file and file:close()
end

local function each_line(path, call)
  for line in io.lines(path) do call(line) end
end

-- The id of an event, which its data has, too.
local function id_of(json)
  local id = json:match '"data":{"id":"(k%d+/%d+)"}'
  local _, count = json:gsub('"id":"' .. tostring(id) .. '"', "")
  if count ~= 2 or not json:find '^{"specversion":"1.0",.*}$' then error("no event: " .. json) end
  return id
end

local sim, folder, target

local function stop_target()
  if not target then return end
  if target.stop then
    target:stop()
  else
    target:kill "KILL"
    target:wait()
  end
  target = nil
end

local function before()
  sim, folder = cluster.sim(), temp.folder()
end

local function after()
  stop_target()
  cluster.stop_all()
  temp.remove(folder)
end

describe("a sink in a storm #threads", function()
  before_each(before)
  after_each(after)

  it("delivers by HTTP to a receiver that fails and restarts", function()
    local log, port = folder .. "/log", 0
    temp.write(log .. ".mode", "flaky 0.03")
    local function start()
      target = proc.spawn {
        "python3", "spec/support/sink_receiver.py", log, tostring(port), stderr = folder .. "/errors",
      }
      port = target:wait_line "port (%d+)"
    end
    start()
    local one = storm.new {
      sim = sim, folder = folder, to = "http://127.0.0.1:" .. port, args = { "--allow-http", "127.0.0.1:" .. port },
      calm = function() temp.write(log .. ".mode", "ok") end,
      trouble = function()
        stop_target()
        start()
      end,
    }
    local seconds, ids = one:rage(), {}
    each_line(log, function(line) ids[#ids + 1] = line:match "^%S+" end)
    one:check("http", ids, seconds)
  end)

  it("appends to a file that is rotated meanwhile", function()
    local path, files = folder .. "/out/events.jsonl", {}
    temp.write(path, '{"specversion":"1.0","id":"k0/') -- of an engine that was killed
    local one = storm.new {
      sim = sim, folder = folder, to = "file://" .. path, args = { "--allow-sink", "file://" .. folder .. "/out/" },
      trouble = function(i)
        files[#files + 1] = path .. "." .. i
        os.rename(path, path .. "." .. i)
      end,
    }
    local seconds, ids = one:rage(), {}
    files[#files + 1] = path
    for _, name in ipairs(files) do
      each_line(name, function(line) ids[#ids + 1] = id_of(line) end)
    end
    one:check("file", ids, seconds)
  end)
end)

-- Not under ThreadSanitizer, which knows nothing of librdkafka's threads.
describe("a sink of a stream in a storm", function()
  before_each(before)
  after_each(after)

  -- CI has everything.
  local function left_out(why)
    assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", why)
    pending(why)
  end

  it("delivers to JetStream while nats-server restarts", function()
    if not is_there(tools .. "nats_stream") or temp.run "command -v nats-server" == "" then
      return left_out "libnats-dev and nats-server are not installed"
    end
    local port = "-1"
    local function start()
      target = proc.spawn { "nats-server", "-js", "-sd", folder .. "/nats", "-a", "127.0.0.1", "-p", port }
      port = target:wait_error "Listening for client connections on 127.0.0.1:(%d+)"
      target:wait_error "Server is ready"
    end
    start()
    local url = "nats://127.0.0.1:" .. port
    local tool = tools .. "nats_stream " .. url
    assert.are.equal("created\n", (temp.run(tool .. " create events.test")))
    local one = storm.new {
      sim = sim, folder = folder, to = url .. "/events.test", args = { "--allow-sink", "nats://*" },
      trouble = function()
        stop_target()
        start()
      end,
    }
    local seconds, ids = one:rage(), {}
    local text, code = temp.run(tool .. " dump >" .. folder .. "/dump")
    assert.are.equal(0, code, text)
    each_line(folder .. "/dump", function(line) if line ~= "end" then ids[#ids + 1] = line end end)
    one:check("nats-server", ids, seconds)
  end)

  -- Of a key all are in one partition.
  local function dumped(brokers, more)
    local text, code = temp.run(("%skafka_dump %s %s >%s/dump"):format(tools, brokers, more or "", folder))
    assert.are.equal(0, code, text)
    local ids, places = {}, {}
    each_line(folder .. "/dump", function(line)
      local partition, key, json = line:match "^(%d+) (k%d+) (.*)$"
      assert.is_true(partition == (places[key] or partition), line)
      places[key] = partition
      ids[#ids + 1] = id_of(json)
    end)
    return ids
  end

  -- Of ./dev prove kafka alone: one broker, which is killed, with TLS and a login.
  local jars = os.getenv "KUBELUA_KAFKA"
  local function to_a_broker()
    target = require("spec.support.streams.kafka").new(folder, jars, "me", "hunter22hunter")
    local one = storm.new {
      sim = sim, folder = folder, to = "kafka+ssl://" .. target.tls .. "/events",
      args = {
        "--allow-sink", "kafka+ssl://*", "--param", "user=me", "--param", "password=hunter22hunter", "--param",
        "mechanism=PLAIN", "--param", "ca=" .. folder .. "/broker.crt",
      },
      trouble = function()
        target:stop()
        target:start()
      end,
    }
    local seconds = one:rage()
    one:check("Kafka", dumped(target.plain), seconds)
  end
  if jars then it("delivers to a broker of Kafka that restarts", to_a_broker) end

  it("delivers to Kafka while brokers go and requests fail", function()
    if not is_there(tools .. "kafka_mock") then return left_out "librdkafka-dev is not installed" end
    target = proc.spawn { tools .. "kafka_mock" }
    local brokers = target:wait_line "^brokers (.*)$"
    local one = storm.new {
      sim = sim, folder = folder, to = "kafka://" .. brokers .. "/events", args = { "--allow-sink", "kafka://*" },
      most = 40000, kills = 4, -- these brokers keep 5 MB of a partition
      trouble = function(i)
        target:write(i % 2 == 1 and "lose\n" or "down 1\n")
        if i % 2 == 1 then return end
        os.execute "sleep 0.3"
        target:write "up 1\n"
      end,
    }
    local seconds = one:rage()
    one:check("librdkafka", dumped(brokers), seconds)
  end)
end)
