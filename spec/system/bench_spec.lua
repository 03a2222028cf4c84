-- `kubelua bench` with few pods: what it prints, peers that behave and peers that do not, flags that are wrong.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

-- The command of a peer that does what these lines of shell say, whatever it is asked, and then waits.
local function peer(...)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(table.concat({ ... }, "\n"), "\nexec sleep 600\n")
  file:close()
  return "bash " .. path
end

local function output_of(command)
  local pipe = io.popen(command)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function bench(...)
  return cluster.kubelua { "bench", "--pods", "200", "--runs", "1", "--updates", "1000", "--settle", "20ms", ... }
end

local function result_of(report, subject)
  for _, result in ipairs(report.results) do
    if result.subject == subject then return result end
  end
end

local function figure(report, subject, name)
  local result = result_of(report, subject)
  return result and result.figures[name] and result.figures[name].median
end

describe("kubelua bench", function()
  after_each(cluster.stop_all)

  it("measures kubelua from the first list to a storm", function()
    local p = bench("--only", "sync,relist,storm,latency", "-o", "json")
    assert.equal(0, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    assert.equal(200, report.pods)
    for _, subject in ipairs { "kubelua", "kubelua metadata" } do
      for _, name in ipairs {
        "sync_cpu_us_per_object", "sync_wall_s", "steady_bytes", "trimmed_bytes", "relist_cpu_us_per_object",
        "storm_events_per_s", "storm_cpu_us_per_event", "storm_source_cpu_us_per_event", "latency_1000_p50_us",
        "latency_10000_max_us",
      } do
        assert.is_true((figure(report, subject, name) or 0) > 0, subject .. ": " .. name)
      end
      assert.is_true(figure(report, subject, "storm_handled_percent") <= 100)
      assert.is_true(figure(report, subject, "latency_1000_p50_us") <= figure(report, subject, "latency_1000_max_us"))
    end
    assert.is_nil(result_of(report, "kubelua projected"))
  end)

  it("measures the lister, Lua, the start and the idle process", function()
    local p = bench("--only", "select,lua,start,idle", "-o", "json")
    assert.equal(0, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    for _, name in ipairs {
      "select_label_us", "select_two_us", "select_scan_us", "select_namespace_us", "step_ns", "name_ns", "handler_ns",
      "idle_bytes", "idle_private_bytes", "start_ms",
    } do
      assert.is_true((figure(report, "kubelua", name) or -1) >= 0, name)
    end
    assert.is_true(figure(report, "kubelua", "select_hits") >= 1)
    assert.equal(figure(report, "kubelua", "select_two_hits"), figure(report, "kubelua", "select_scan_hits"))
    assert.equal(5, #result_of(report, "kubelua").figures.start_ms.runs)
    assert.is_true(figure(report, "kubelua", "name_ns") > figure(report, "kubelua", "step_ns"))
  end)

  it("shows tables, the targets, and what was not measured", function()
    local p = bench("--only", "projected,sync", "--missing", "kube-rs typed=there is no cargo")
    assert.equal(0, p:wait(60), p:report())
    local out = p:out()
    assert.truthy(out:find("\nFirst sync[^\n]*\nSUBJECT +CPU us/pod"), out)
    assert.truthy(out:find "\nkubelua +[%d.]+ +[%d.]+ ")
    assert.truthy(out:find "\nkubelua projected +[%d.]+ ")
    assert.truthy(out:find "first sync, peak over steady memory +[%d.]+x +at most 1.20x +m")
    assert.truthy(out:find "storm CPU, less than client%-go dynamic +%- +at least 45.0x +not measured")
    assert.truthy(out:find "\nkube%-rs typed +there is no cargo\n")
    assert.falsy(out:find "Storm of updates")
  end)

  it("measures a peer that can do less than everything", function()
    local p = bench("--only", "sync,storm", "-o", "json", "--peer",
      "small=" .. peer [[echo '{"event":"synced","objects":200,"measurements":["sync"]}']])
    assert.equal(0, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    assert.is_true(figure(report, "small", "sync_wall_s") > 0)
    assert.is_nil(figure(report, "small", "storm_events_per_s"))
    assert.is_true(figure(report, "kubelua", "storm_events_per_s") > 0)
  end)

  it("names a peer that dies, with its last words, and goes on with the others", function()
    local p = bench("--only", "sync", "--peer", "dying=" .. peer("echo out of luck >&2", "exit 7"), "--peer",
      "lying=" .. peer "echo nonsense", "--peer",
      "short=" .. peer [[echo '{"event":"synced","objects":7}']], "--peer",
      "small=" .. peer [[echo '{"event":"synced","objects":200,"measurements":["sync"]}']])
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\ndying +dying ended with exit code 7: out of luck\n", p:out())
    assert.truthy(p:out():find '\nlying +lying: it printed "nonsense"')
    assert.truthy(p:out():find "\nshort +short was synced with 7 objects of 200\n")
    assert.truthy(p:out():find "\nsmall +[%d.]+ +[%d.]+ ")
    assert.truthy(p:err():find "kubelua bench: dying ended with exit code 7: out of luck\n")
  end)

  it("names a peer that dies or is silent when it is needed", function()
    local p = bench("--only", "storm", "--timeout", "300ms", "--peer",
      "gone=" .. peer([[echo '{"event":"synced","objects":200}']], "sleep 0.1", "exit 0"), "--peer",
      "silent=" .. peer [[echo '{"event":"synced","objects":200}']])
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\ngone +gone ended with exit code 0\n", p:out())
    assert.truthy(p:out():find "\nsilent +silent printed nothing for 0.3 s\n")
  end)

  it("says when it was the source that ended", function()
    local p = bench("--only", "storm", "--peer", "waiting=" .. peer "echo up >&2", "--peer",
      "small=" .. peer [[echo '{"event":"synced","objects":200,"measurements":["sync"]}']])
    p:wait_error "run 1 of 1: waiting"
    local file = ("/proc/%d/task/%d/children"):format(p.pid, p.pid)
    local source = await(function()
      local source, subject = output_of("cat " .. file):match "^(%d+) (%d+)"
      local runs = subject and output_of("tr '\\0' ' ' </proc/" .. subject .. "/cmdline")
      return runs and runs:find "sleep 600" and source
    end, "the source and the peer")
    output_of("kill -9 " .. source)
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\nwaiting +the source was killed by signal 9\n", p:out())
    assert.truthy(p:out():find "\nsmall +[%d.]+ ")
  end)

  it("leaves nothing behind when it is interrupted", function()
    local mark = "kubelua-bench-spec-" .. proc.now()
    local find, folder = "grep -las '^" .. mark .. "' /proc/[0-9]*/cmdline", temp.folder()
    local p = proc.spawn {
      cluster.binary, "bench", "--pods", "200", "--only", "sync", "--peer",
      "slow=" .. peer(("(exec -a %s sleep 600) &"):format(mark)), env = { TMPDIR = folder },
    }
    p:wait_error "run 1 of 3: slow"
    await(function() return output_of(find) ~= "" end, "the start of the peer")
    p:kill "INT"
    assert.equal(130, p:wait(20), p:report())
    assert.equal("", p:out())
    assert.equal("", output_of(find))
    assert.equal("", output_of("ls " .. folder))
    temp.remove(folder)
  end)

  it("says what is wrong with its flags", function()
    for _, case in ipairs {
      { { "--only", "sync,speed" }, '--only: there is no measurement "speed"; --help lists them' },
      { { "--peer", "nameless" }, '--peer: "nameless" is not NAME=COMMAND' },
      { { "--peer", "kubelua=true" }, '--peer: there are two subjects called "kubelua"' },
      { { "--missing", "why" }, '--missing: "why" is not NAME=WHY' },
      { { "--pods", "0" }, "--pods: it takes at least 1" },
      { { "--replicas=0" }, "--replicas: it takes at least 1" },
      { { "--runs=0" }, "--runs: it takes at least 1" },
      { { "--updates=0" }, "--updates: it takes at least 1" },
      { { "-o", "yaml" }, "yaml" },
      { { "now" }, 'unexpected argument "now"' },
    } do
      local p = bench(unpack(case[1]))
      assert.equal(2, p:wait(20), p:report())
      assert.truthy(p:err():find(case[2], 1, true), p:report())
    end
  end)

  it("does not take JSON for the protobuf that a peer is about", function()
    local p = bench("--only", "sync", "--peer", "some protobuf=false")
    assert.equal(0, p:wait(60), p:report())
    assert.truthy(p:out():find "\nsome protobuf +it needs the pods in protobuf: %-%-encodings\n")
  end)
end)
