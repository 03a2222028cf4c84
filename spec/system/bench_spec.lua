-- `kubelua bench` with few pods: what it prints, peers that behave and peers that do not, flags that are wrong.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

-- The command of a peer that does what these lines of shell say, whatever it is asked, and then waits.
local function peer(...)
  local path = temp.name()
  local file = assert(io.open(path, "w"))
  file:write(table.concat({ ... }, "\n"), "\nexec sleep 600\n")
  file:close()
  return "bash " .. path
end

-- Of a peer that can do no more than a first list.
local small = [[echo '{"event":"synced","objects":200,"measurements":["sync"],"version":"small 1.2"}']]

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

  it("measures the lister, Lua, the start, the idle process and an audit", function()
    local p = bench("--only", "select,lua,start,idle,audit-engine", "-o", "json")
    assert.equal(0, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    for _, name in ipairs {
      "select_label_us", "select_two_us", "select_scan_us", "select_namespace_us", "step_ns", "name_ns", "handler_ns",
      "audit_engine_wall_s", "audit_engine_cpu_us_per_object",
      "idle_bytes", "idle_private_bytes", "start_ms",
    } do
      assert.is_true((figure(report, "kubelua", name) or -1) >= 0, name)
    end
    assert.is_true(figure(report, "kubelua", "select_hits") >= 1)
    assert.equal(figure(report, "kubelua", "select_two_hits"), figure(report, "kubelua", "select_scan_hits"))
    assert.equal(1, #result_of(report, "kubelua").figures.start_ms.runs)
    assert.is_true(figure(report, "kubelua", "name_ns") > figure(report, "kubelua", "step_ns"))
  end)

  it("shows a head, tables, the targets, and what was not measured", function()
    local p = bench("--only", "projected,sync", "--missing", "client-go dynamic=there is no Go")
    assert.equal(0, p:wait(60), p:report())
    local out = p:out()
    assert.truthy(out:find "^kubelua [%d.]+ %([^)]+%), %d%d%d%d%-%d%d%-%d%d %d%d:%d%d UTC\n", out)
    assert.truthy(out:find "\n[^\n]+, %d+ CPUs?, [%d.]+ GiB, Linux [^\n]+\n")
    assert.truthy(out:find("\nFlags: --pods 200 --replicas 3 --runs 1 --updates 1000 --settle 0.02s --timeout 60s "
      .. "--only projected,sync\nOne run\n", 1, true))
    assert.truthy(out:find "\nFirst sync[^\n]*\nSUBJECT +CPU us/pod")
    assert.truthy(out:find "\nkubelua +[%d.]+ +[%d.]+ ")
    assert.truthy(out:find "\nkubelua projected +[%d.]+ ")
    assert.truthy(out:find "\nTARGET +MEASURED +BOUND +VERDICT\n")
    assert.truthy(out:find "first sync, memory: peak / steady +[%d.]+x +at most 1.2x +m")
    assert.truthy(out:find "\nstorm CPU: client%-go dynamic / kubelua +%- +at least 45x +not run: %-%-only excludes ")
    assert.truthy(out:find "\nsync CPU: client%-go dynamic / [^\n]+ at least 25x +not run: needs client%-go dynamic\n")
    assert.truthy(out:find "100,000 pods, ten fields +%- +at most 300 B +not run: needs %-%-full\n")
    assert.truthy(out:find "\nclient%-go dynamic +there is no Go\n")
    assert.falsy(out:find "Storm of updates")
    for heading in out:gmatch "\n(SUBJECT [^\n]+)" do
      local seen = {}
      for word in (heading .. "  "):gmatch "(%S.-)  +" do
        assert.is_nil(seen[word], heading)
        seen[word] = true
      end
    end
  end)

  it("shows the lowest and the highest of several runs, and the runs that a subject did not get through", function()
    local starts = temp.name() -- two in each run, as the idle process is measured too
    local p = bench("--runs", "2", "--only", "sync", "--peer", "half=" .. peer("echo >>" .. starts,
      "[ $(wc -l <" .. starts .. ") -lt 3 ] || exit 3", small))
    assert.equal(1, p:wait(60), p:report())
    local out = p:out()
    assert.truthy(out:find "\nMedians of 2 runs; in the line below each, the lowest and the highest of them\n", out)
    assert.truthy(out:find "\nkubelua +[%d.]+ +[%d.]+ +[%d.]+\n  lowest%.%.highest +[%d.]+%.%.[%d.]+ ", out)
    assert.truthy(out:find "\nhalf %(1 of 2 runs%) +[%d.]+ ", out)
    assert.truthy(out:find "\nhalf +in run 2 of 2: half ended with exit code 3\n", out)
    os.remove(starts)
  end)

  it("measures a peer that can do less than everything", function()
    local p = bench("--only", "sync,storm", "-o", "json", "--peer",
      "small=" .. peer(small))
    assert.equal(0, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    assert.equal("small 1.2", result_of(report, "small").version)
    assert.is_true(figure(report, "small", "sync_wall_s") > 0)
    assert.is_nil(figure(report, "small", "storm_events_per_s"))
    assert.is_true(figure(report, "kubelua", "storm_events_per_s") > 0)
  end)

  it("names a peer that dies, with its last words, and goes on with the others", function()
    local p = bench("--only", "sync", "--peer", "dying=" .. peer("echo out of luck >&2", "exit 7"), "--peer",
      "lying=" .. peer "echo nonsense", "--peer",
      "short=" .. peer [[echo '{"event":"synced","objects":7}']], "--peer",
      "small=" .. peer(small))
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\ndying +dying ended with exit code 7: out of luck\n", p:out())
    assert.truthy(p:out():find '\nlying +lying: it printed "nonsense"')
    assert.truthy(p:out():find "\nshort +short was synced with 7 objects of 200\n")
    assert.truthy(p:out():find "\nsmall +[%d.]+ +[%d.]+ ")
    assert.truthy(p:err():find "kubelua bench: dying ended with exit code 7: out of luck\n")
  end)

  it("names a peer that dies or is silent when it is needed", function()
    local p = bench("--only", "storm", "--timeout", "300ms", "--peer",
      "gone=" .. peer([[echo '{"event":"synced","objects":200}']], "exec sleep 0.1"), "--peer",
      "silent=" .. peer [[echo '{"event":"synced","objects":200}']])
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\ngone +gone ended with exit code 0\n", p:out())
    assert.truthy(p:out():find "\nsilent +silent printed nothing for 0.3 s\n")
  end)

  it("reports when the source ended", function()
    local p = bench("--only", "storm", "--peer", "waiting=" .. peer "echo up >&2", "--peer",
      "small=" .. peer(small))
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
    assert.truthy(p:out():find "\nPARTIAL: [^\n]*: interrupted\n", p:report())
    assert.truthy(p:out():find "\nkubelua %(1 of 3 runs%) +[%d.]+ ")
    assert.truthy(p:err():find "kubelua bench: interrupted; the report is partial\n")
    assert.equal("", output_of(find))
    assert.equal("", output_of("ls " .. folder))
    temp.remove(folder)
  end)

  it("prints nothing when it is interrupted before there is a figure", function()
    local p = bench("--only", "floor", "-o", "json", "--peer", "slow:floor=" .. peer "true")
    p:wait_error "run 1 of 1: slow"
    p:kill "INT"
    assert.equal(130, p:wait(20), p:report())
    assert.equal("", p:out())
    assert.truthy(p:err():find "interrupted before the first measurement\n")
  end)

  it("reports what it has when a source does not start any more", function()
    local p = bench("--only", "sync", "-o", "json", "--peer",
      "breaker=" .. peer("prlimit --pid $PPID --nofile=5:5", small), "--peer", "later=" .. peer(small))
    assert.equal(1, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    assert.is_false(report.complete)
    assert.truthy(report.stopped:find "Too many open files", report.stopped)
    assert.is_true(figure(report, "kubelua", "sync_wall_s") > 0)
    assert.is_nil(result_of(report, "later"))
    assert.truthy(p:err():find "ended early, the report is partial: [^\n]*Too many open files\n$", p:report())
  end)

  it("has no report, and exit code 2, when nothing was measured", function()
    for _, output in ipairs { "table", "json" } do
      local p = bench("--only", "floor", "-o", output, "--peer", "bare:floor=" .. peer "exit 9")
      assert.equal(2, p:wait(20), p:report())
      assert.equal("", p:out())
      assert.truthy(p:err():find "bare ended with exit code 9\n[^\n]*: nothing was measured: every subject failed\n$")
    end
    local p = bench("--only", "floor", "-o", "json")
    assert.equal(2, p:wait(20), p:report())
    assert.equal("", p:out())
    assert.truthy(p:err():find "^kubelua bench: nothing to measure: [^\n]*; add a %-%-peer\n$", p:report())
  end)

  it("reports it when the report cannot be written", function()
    local p = proc.spawn { "bash", "-c", cluster.binary .. " bench --pods 20 --only lua --runs 1 >/dev/full" }
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:err():find "kubelua bench: the report was not written: No space left on device\n$")
  end)

  it("compares with an earlier run", function()
    local file = temp.name()
    local before = bench("--only", "sync", "-o", "json", "--runs", "2")
    assert.equal(0, before:wait(60), before:report())
    temp.write(file, before:out())
    local was = figure(cjson.decode(before:out()), "kubelua", "steady_bytes")

    local p = bench("--only", "sync", "--runs", "2", "--compare", file)
    assert.equal(0, p:wait(60), p:report())
    local out = p:out()
    assert.truthy(out:find("\n=== Compared with " .. file .. ": kubelua ", 1, true), out)
    assert.truthy(out:find "\nkubelua, 200 pods, 3 of a workload\nFIGURE +BEFORE +NOW +CHANGE +VERDICT\n")
    assert.truthy(out:find "\nsync_cpu_us_per_object +[%d.]+ +[%d.]+ +[+-][%d.]+ %% +%l")
    assert.falsy(out:find "storm_cpu_us_per_event")

    p = bench("--only", "sync", "--updates", "7", "-o", "json", "--compare", file)
    assert.equal(0, p:wait(60), p:report())
    local found
    local report = cjson.decode(p:out())
    for _, change in ipairs(report.compared.changes) do
      if change.subject == "kubelua" and change.figure == "steady_bytes" then found = change end
    end
    assert.equal(was, found.before)
    assert.equal(figure(report, "kubelua", "steady_bytes"), found.now)
    assert.is_true(math.abs((found.now / found.before - 1) * 100 - found.change_percent) < 1e-6)
    os.remove(file)
  end)

  it("reports before it begins that there is nothing to compare with", function()
    local file = temp.name()
    for _, case in ipairs {
      { "no JSON", "is not a report of kubelua bench -o json" },
      { "[]", "is not a report of kubelua bench -o json" },
      { '{"results":[7]}', "is not a report of kubelua bench -o json" },
      { '{"results":[]}', "has no figures" },
      { '{"results":[{"subject":"kubelua","pods":7,"replicas":3,"figures":{}}]}',
        'has none of the current measurements; it has "kubelua" with --pods 7 --replicas 3' },
    } do
      temp.write(file, case[1])
      local p = bench("--compare", file)
      assert.equal(2, p:wait(20), p:report())
      assert.equal(("kubelua bench: --compare: %s %s\n"):format(file, case[2]), p:err())
    end
    os.remove(file)
    local p = bench("--compare", file)
    assert.equal(2, p:wait(20), p:report())
    assert.truthy(p:err():find "%-%-compare: cannot read [^\n]*: No such file or directory\n")
  end)

  it("documents each key of its JSON", function()
    local file = temp.name()
    local documented, known = assert(io.open "docs/dev/bench.md"):read "*a", {}
    local function keys_of(value)
      for key, item in pairs(value) do
        if type(key) == "string" then known[key] = true end
        if type(item) == "table" then keys_of(item) end
      end
    end
    local p = bench("-o", "json", "--updates", "100")
    assert.equal(0, p:wait(60), p:report())
    keys_of(cjson.decode(p:out()))
    temp.write(file, p:out())
    p = bench("--only", "sync", "-o", "json", "--compare", file, "--peer", "dying=" .. peer "exit 1", "--peer",
      "small=" .. peer(small))
    assert.equal(1, p:wait(60), p:report())
    keys_of(cjson.decode(p:out()))
    known.stopped = true
    for key in pairs(known) do assert.truthy(documented:find("`" .. key .. "`", 1, true), key) end
    os.remove(file)
  end)

  it("runs a peer's command in place of the shell, with its variables", function()
    local p = bench("--only", "sync", "-o", "json", "--peer", "mine=WORD=there "
      .. peer("[ \"$WORD $(cat /proc/$PPID/comm)\" = 'there kubelua' ] || exit 5", small))
    assert.equal(0, p:wait(60), p:report())
    assert.is_true(figure(cjson.decode(p:out()), "mine", "sync_wall_s") > 0)
  end)

  it("does not measure a script that waits for the program", function()
    local p = bench("--only", "sync", "--peer", "wrapped=" .. peer(peer(small)))
    assert.equal(1, p:wait(60), p:report())
    assert.truthy(p:out():find "\nwrapped +wrapped started other processes [^\n]* exec PROGRAM\n")
  end)

  it("reports how much memory is needed before it begins", function()
    local p = bench("--pods", "2000000000")
    assert.equal(2, p:wait(20), p:report())
    assert.truthy(p:err():find("^kubelua bench: 2,000,000,000 pods need about [%d.]+ GiB of memory [^\n]+, and [%d.]+ "
      .. "GiB are available\n$"), p:report())
    p = bench("--pods", "100000", "--dry-run", "--peer", "mine=true")
    assert.equal(0, p:wait(20), p:report())
    assert.truthy(p:err():find "^kubelua bench: 100,000 pods need about 1.[%d]+ GiB")
    assert.truthy(p:err():find "\nkubelua bench: peers may need many times as much memory\n$")
  end)

  it("reports what it would do", function()
    local p = bench("--only", "sync,floor", "--dry-run", "--peer", "bare:floor=true", "--peer", "go:protobuf=true")
    assert.equal(0, p:wait(20), p:report())
    assert.equal("Flags: --pods 200 --replicas 3 --runs 1 --updates 1000 --settle 0.02s --timeout 60s "
      .. "--only sync,floor\n"
      .. "Subjects:\n  kubelua\n  kubelua metadata\n  bare\n"
      .. "Not run:\n  go: needs --encodings (the pods in protobuf)\n", p:out())
  end)

  it("takes --runs for --quick's one run", function()
    local p = cluster.kubelua { "bench", "--quick", "--runs", "5", "--dry-run" }
    assert.equal(0, p:wait(20), p:report())
    assert.truthy(p:out():find "%-%-runs 5 ")
    p = cluster.kubelua { "bench", "--quick", "--dry-run" }
    assert.equal(0, p:wait(20), p:report())
    assert.truthy(p:out():find "%-%-runs 1 ")
  end)

  it("reports what is wrong with its flags", function()
    for _, case in ipairs {
      { { "--only", "sync,speed" }, '--only: unknown measurement "speed"; see kubelua help bench' },
      { { "--only", "snyc" }, '--only: unknown measurement "snyc", did you mean "sync"?' },
      { { "--only", "" }, "--only must not be empty; use, for example, sync,storm" },
      { { "--peer", "nameless" }, '--peer: "nameless" is not NAME=COMMAND' },
      { { "--peer", "kubelua=true" }, '--peer: "kubelua" is one of kubelua\'s own subjects; give it another name' },
      { { "--peer", "a=true", "--peer", "a=false" }, '--peer: there are two called "a"' },
      { { "--peer", "a:fast=true" }, '--peer: "a:fast": unknown trait, must be protobuf or floor' },
      { { "--peer", ":floor=true" }, "--peer: missing name before the colon" },
      { { "--encodings", "/no/such" }, "--encodings: cannot read /no/such/pods.pb: No such file or directory" },
      { { "--pods", "-1" }, "--pods must be 1 or more, not -1" },
      { { "--pods", "99999999999" }, "--pods: 99999999999 is too large, the maximum is 2147483647" },
      { { "--updates", "2000000000" }, "--updates: 2000000000 is too large, the maximum is 1000000000" },
      { { "--timeout=0" }, "--timeout must be greater than 0" },
      { { "--missing", "why" }, '--missing: "why" is not NAME=WHY' },
      { { "--pods", "0" }, "--pods must be 1 or more, not 0" },
      { { "--replicas=0" }, "--replicas must be 1 or more, not 0" },
      { { "--runs=0" }, "--runs must be 1 or more, not 0" },
      { { "--updates=0" }, "--updates must be 1 or more, not 0" },
      { { "-o", "yaml" }, "yaml" },
      { { "now" }, 'unexpected argument "now"' },
    } do
      local p = bench(unpack(case[1]))
      assert.equal(2, p:wait(20), p:report())
      assert.truthy(p:err():find(case[2], 1, true), p:report())
    end
  end)

  it("checks the flags of ./dev bench before it builds peers", function()
    local p = proc.spawn { "bench/run", "--only", "sync", "--foo", env = { KUBELUA_BIN = cluster.binary } }
    assert.equal(2, p:wait(20), p:report())
    assert.equal("kubelua bench: unknown flag --foo\n", p:err())
    p = proc.spawn { "bench/run", "--dry-run", env = { KUBELUA_BIN = cluster.binary } }
    assert.equal(0, p:wait(20), p:report())
    assert.truthy(p:out():find "\n  client%-go json\n")
    assert.truthy(p:out():find "\n  client%-go protobuf\n", p:out())
    assert.equal("", p:err())
    p = proc.spawn { "bench/run", "--quick", "--dry-run", env = { KUBELUA_BIN = cluster.binary } }
    assert.equal(0, p:wait(20), p:report())
    assert.truthy(p:out():find "\n  client%-go protobuf: %-%-quick is about kubelua alone\n")
    assert.truthy(p:out():find "\n  floor dom\n")
  end)

  it("measures all else of a peer that has no lister, and reports where it failed", function()
    local both = small:gsub('%["sync"%]', '["sync","select"]')
    local command = peer([[[ "$3" != --select ] || { echo "no such flag" >&2; exit 2; }]], both)
    local p = bench("--only", "sync,select", "-o", "json", "--peer", "mine=" .. command)
    assert.equal(1, p:wait(60), p:report())
    local report = cjson.decode(p:out())
    assert.is_truthy(figure(report, "mine", "sync_wall_s"), p:out())
    assert.is_nil(figure(report, "mine", "select_label_us"))
    assert.truthy(p:out():find("select: mine ended with exit code 2: no such flag", 1, true), p:out())
  end)

  it("does not take JSON for the protobuf that a peer is about", function()
    local p = bench("--only", "sync", "--peer", "some:protobuf=false")
    assert.equal(0, p:wait(60), p:report())
    assert.truthy(p:out():find "\nsome +needs %-%-encodings %(the pods in protobuf%)\n")
  end)
end)
