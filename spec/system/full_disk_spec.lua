-- A disk that is full for a moment: the audit log and stdout go on when there is room again, the log and the audit log
-- say how many lines are missing, and no line runs into another. The disk is RLIMIT_FSIZE, which cuts a write at a byte
-- as ENOSPC does, wherever this runs and whoever runs it.
local cjson = require "cjson"
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

local function size_of(path)
  local file = io.open(path)
  local size = file and file:seek "end" or 0
  if file then file:close() end
  return size
end

-- No file of the process gets larger than that; "unlimited": as large as it likes.
local function limit(process, bytes)
  local text, code = temp.run(("prlimit --pid %d --fsize=%s:"):format(process.pid, bytes))
  assert.are.equal(0, code, text)
end

local function lines_of(path)
  local lines = {}
  local text = temp.read(path)
  assert.are.equal("\n", text:sub(-1))
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

describe("a disk that is full for a moment #threads", function()
  local sim, folder, out, log, engine

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    out, log = folder .. "/out", folder .. "/audit.log"
  end)
  after_each(function()
    if engine and not engine.exit_code then
      engine:kill "KILL"
      engine:wait(20)
    end
    engine = nil
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- With stdout in a file; `room`: how large one may get.
  local function start(verb, room, text, ...)
    local script = cluster.script('local k8s = require "k8s"\n' .. text)
    local command = ('prlimit --pid $$ --fsize=%s: && exec "$0" "$@" >%s'):format(room, out)
    local words = { "sh", "-c", command, cluster.binary, verb, "--server=" .. sim.server }
    for _, word in ipairs(verb == "run" and { "-f", script, "--metrics-bind-address", "127.0.0.1:0", "--admin-socket",
      "0", "--health-probe-bind-address", "0", ... } or { script }) do words[#words + 1] = word end
    engine = proc.spawn(words)
    return engine
  end

  local function metric(name)
    local server = engine:err():match 'Serving metrics" address="([^"]+)"'
    local _, text = api.new({ server = server }):curl("GET", "/metrics")
    return tonumber(text:match("\n" .. name .. " (%d+)\n"))
  end

  local function touch(name)
    sim.api:create(configmaps, { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name } })
  end

  it("costs lines of print that had no room, and no others", function()
    start("run", "unlimited", [[
      local n = 0
      k8s.every(0.01, function()
        for _ = 1, 10 do -- 40 KB a second
          n = n + 1
          print(("line %d of some length, so that it ends"):format(n))
        end
      end)
    ]], "--limit", "print-buffer=64Ki")
    engine:wait_error 'Serving metrics" address='
    await(function() return size_of(out) > 0 end, "a line")
    limit(engine, size_of(out) + 2003)
    engine:wait_error 'Failed to write lines, retrying" file="stdout" err="File too large"'
    await(function() return metric "kubelua_print_lines_dropped_total" > 50 end, "lost lines")
    limit(engine, "unlimited")
    local told = 'some were lost" file="stdout" lost=(%d+) since="%d%d%d%d%-.*Z" err="File too large"'
    local lost = tonumber(engine:wait_error(told))
    local size = size_of(out)
    await(function() return size_of(out) > size + 100 end, "more lines")
    assert.are.equal(lost, metric "kubelua_print_lines_dropped_total")
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(lost, tonumber(engine:err():match "printLinesDropped=(%d+)"))
    local before, lines = 0, lines_of(out)
    for _, line in ipairs(lines) do
      local n = tonumber(line:match "^line (%d+) of some length, so that it ends$")
      assert.is_true(n and n > before, line)
      before = n
    end
    assert.are.equal(lost, before - #lines)
  end)

  it("leaves a gap in the audit log that a record reports", function()
    local count = 9000 -- of 1,200 bytes: more than the 8 MiB that may wait
    start("run", "unlimited", ([[
      k8s.writes { "configmaps:*" }
      local function write(name)
        k8s.create { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" } }
      end
      k8s.informer("configmaps"):on_add(function(map)
        if map:name() == "flood" then
          for i = 1, %d do write(i .. ("x"):rep(1000)) end
          k8s.log.info "flooded"
        elseif map:name():find "after" then
          write(map:name())
        end
      end)
    ]]):format(count), "--dry-run=client", "--audit-log", log, "--limit", "writes=100000", "--handler-cpu=60s")
    engine:wait_error 'Serving metrics" address='
    limit(engine, 12345)
    touch "flood"
    engine:wait_error('Failed to write the audit log, retrying" file="' .. log .. '" err="File too large"')
    engine:wait_error '"flooded"'
    limit(engine, "unlimited")
    local lost = tonumber(engine:wait_error('some were lost" file="' .. log .. '" lost=(%d+) since="%d%d%d%d%-.*Z"'))
    assert.is_true(lost > 0)
    assert.are.equal(lost, metric "kubelua_audit_log_lines_dropped_total")
    touch "after"
    await(function() return temp.read(log):find "default/after" end, "the record behind the gap")
    assert.are.equal(0, cluster.terminate(engine))
    assert.are.equal(lost, tonumber(engine:err():match "auditLinesDropped=(%d+)"))
    local lines = lines_of(log)
    for i = 1, #lines - 2 do assert.has_match("^default/" .. i .. "x", cjson.decode(lines[i]).object) end
    assert.are.equal(count - lost, #lines - 2)
    local gap, last = cjson.decode(lines[#lines - 1]), cjson.decode(lines[#lines])
    assert.are.equal("default/after", last.object)
    assert.is_true(gap.since <= gap.time and gap.time <= last.time)
    gap.since, gap.time = nil, nil
    assert.are.same({ result = "Lost", lost = lost, message = "File too large" }, gap)
  end)

  it("that lasts beyond the end leaves a torn line, which the next process ends", function()
    local text = [[
      k8s.writes { "configmaps:*" }
      local n = 0
      k8s.every(0.01, function()
        n = n + 1
        k8s.create { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "m" .. n, namespace = "default" } }
      end)
    ]]
    start("run", "unlimited", text, "--dry-run=client", "--audit-log", log)
    await(function() return size_of(log) > 0 end, "a record")
    engine:kill "STOP" -- it would write more meanwhile
    local room = size_of(log) + 1000
    limit(engine, room)
    engine:kill "CONT"
    engine:wait_error 'Failed to write the audit log, retrying"'
    assert.are.equal(room, size_of(log))
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('Lines were lost at the end" file="' .. log .. '" lost=%d+ since=', engine:err())
    local whole = select(2, temp.read(log):gsub("\n", ""))
    start("run", "unlimited", text, "--dry-run=client", "--audit-log", log)
    await(function() return size_of(log) > room + 1000 end, "more records")
    assert.are.equal(0, cluster.terminate(engine))
    for i, line in ipairs(lines_of(log)) do
      local decoded = pcall(cjson.decode, line)
      assert.is_true(decoded or i == whole + 1, line)
    end
  end)

  it("delays the output of exec, and loses none of it", function()
    start("exec", 54321, [[
      k8s.main(function()
        for i = 1, 12000 do print(("%05d "):format(i) .. ("x"):rep(1000)) end
      end)
    ]])
    engine:wait_error 'Failed to write lines, retrying" file="stdout" err="File too large"'
    limit(engine, "unlimited")
    assert.are.equal(0, engine:wait())
    assert.has_match('none was lost" file="stdout"', engine:err())
    local lines = lines_of(out)
    assert.are.equal(12000, #lines)
    for i, line in ipairs(lines) do assert.are.equal(("%05d "):format(i), line:sub(1, 6)) end
  end)

  it("that lasts beyond the end costs exec its good end, and it reports how many lines", function()
    start("exec", 5000, [[
      k8s.main(function()
        for i = 1, 100 do print(("%05d "):format(i) .. ("x"):rep(1000)) end
      end)
    ]])
    assert.are.equal(3, engine:wait())
    assert.has_match("stdout: File too large; 96 lines are lost\n$", engine:err())
  end)
end)
