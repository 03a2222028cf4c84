-- run.lua [PODS [RUNS]]: the CPU, time and memory of five checks of pods by `kubelua audit`, by jq, and by LuaJIT with
-- lua-cjson by hand, on the same two files: a List as `kubectl get pods -o json` prints it, and a document a line. What
-- they find must be the same. Subjects take turns. `./dev bench audit` runs it.
local ffi = require "ffi"

ffi.cdef [[
typedef struct { long s, us; } timeval;
typedef struct { timeval user, system; long maxrss, rest[15]; } rusage;
int getrusage(int who, rusage *usage);
typedef struct { long s, ns; } timespec;
int clock_gettime(int clock, timespec *time);
]]

local KUBELUA = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local PODS, RUNS = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 5
local FOLDER = "build/bench/audit"

-- How far the ratios of CPU are to go (jq and by hand on the List, by hand on lines).
local SUBJECTS = {
  { name = "kubelua", list = "%s audit -f bench/scripts/audit.lua --from %s -o json", own = true },
  { name = "kubelua, one process", list = "%s audit -f bench/scripts/audit.lua --children 1 --from %s -o json",
    own = true },
  { name = "jq", list = "jq -r -f bench/audit/checks.jq %s", least = { list = 16 } },
  { name = "LuaJIT + lua-cjson", list = "luajit bench/audit/checks.lua list %s",
    lines = "luajit bench/audit/checks.lua lines %s", least = { list = 5, lines = 5 } },
}

local function fail(format, ...)
  io.stderr:write("bench audit: " .. format:format(...) .. "\n")
  os.exit(1)
end

local function sh(command)
  if os.execute(command) ~= 0 then fail("this failed: %s", command) end
end

local function capture(command)
  local pipe = io.popen(command)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- --- the files

-- Every 50th pod has something wrong.
local SPOIL = [[
.items |= [to_entries[] | .key as $i | .value | del(.metadata.managedFields)
  | if $i % 50 == 0 then .spec.containers[0].image |= sub(":[^:/@]+$"; "") else . end
  | if $i % 50 == 1 then del(.spec.containers[0].resources.limits) else . end
  | if $i % 50 == 2 then .spec.containers[0].securityContext.privileged = true else . end
  | if $i % 50 == 3
    then del(.spec.containers[].securityContext.runAsNonRoot, .spec.securityContext.runAsNonRoot) else . end
  | if $i % 50 == 4 then del(.metadata.labels["app.kubernetes.io/part-of"]) else . end
  | { apiVersion: "v1", kind: "Pod" } + .]
| .apiVersion = "v1" | .kind = "List"
]]

local function make_files()
  sh("mkdir -p " .. FOLDER)
  local sim = io.popen(("%s sim --port 0 --pods %d 2>&1 & echo $!; wait"):format(KUBELUA, PODS))
  local pid = sim:read "*l"
  local url
  for line in sim:lines() do
    url = line:match "Serving on (http://[%d.:]+)"
    if url then break end
  end
  if not url then fail "the simulator did not start" end
  local get = ("curl --silent --fail %s/api/v1/pods | jq --indent 4 '%s' > %s/list.json"):format(url, SPOIL, FOLDER)
  sh(get)
  os.execute("kill " .. pid)
  sim:close()
  sh(("jq -c '.items[]' %s/list.json > %s/lines.json"):format(FOLDER, FOLDER))
end

-- --- a run

local function seconds(t) return tonumber(t.s) + tonumber(t.us) / 1e6 end

local function now()
  local t = ffi.new "timespec"
  ffi.C.clock_gettime(1, t)
  return tonumber(t.s) + tonumber(t.ns) / 1e9
end

-- In a process of its own, as the times are those of all children so far.
local function measure(command)
  local usage, begun = ffi.new "rusage", now()
  os.execute(command)
  local wall = now() - begun
  ffi.C.getrusage(-1, usage)
  print(seconds(usage.user) + seconds(usage.system), wall)
end

-- The largest sum of what a process and its children take, shared memory divided among them, in MiB. It is looked at
-- all the time, so that this run counts for nothing else.
local WATCH = [[%s >/dev/null 2>&1 & pid=$!
while grep -qs ^Pss: /proc/$pid/smaps_rollup; do
  for one in $pid $(cat /proc/$pid/task/$pid/children 2>/dev/null); do
    sed -n 's/^Pss: *\([0-9]*\) kB/\1/p' /proc/$one/smaps_rollup 2>/dev/null
  done
  echo end
done]]

local function peak_of(command)
  local most, sum = 0, 0
  local pipe = io.popen(WATCH:format(command))
  for line in pipe:lines() do
    most, sum = math.max(most, sum), line == "end" and 0 or sum + tonumber(line)
  end
  pipe:close()
  return most / 1024
end

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

local function command_of(subject, form)
  local file = ("%s/%s.json"):format(FOLDER, form)
  local command = subject[form] or subject.list
  return subject.own and command:format(KUBELUA, file) or command:format(file)
end

local function run(command)
  local own = ("luajit bench/audit/run.lua --measure '%s > %s/out'"):format(command, FOLDER)
  local cpu, wall = capture(own):match "(%S+)%s+(%S+)"
  return tonumber(cpu), tonumber(wall)
end

local function run_all(form)
  local results = {}
  for i = 1, RUNS do
    for s, subject in ipairs(SUBJECTS) do
      local r = results[s] or { cpu = {}, wall = {} }
      results[s] = r
      r.cpu[i], r.wall[i] = run(command_of(subject, form))
      if i == 1 then
        local found = "cat %s/out"
        if subject.own then found = [[jq -r '.results[] | "\(.rule) \(.namespace)/\(.name) \(.path)"' %s/out]] end
        r.found = capture((found .. " | sort | sha256sum"):format(FOLDER))
        r.count = tonumber(capture((found .. " | wc -l"):format(FOLDER)))
        r.peak = peak_of(command_of(subject, form))
      end
    end
  end
  return results
end

-- --- the report

local function report(form, title)
  print(("\n%s, %d pods, median of %d runs"):format(title, PODS, RUNS))
  print(("%-20s %10s %8s %9s %9s %9s"):format("", "CPU us/pod", "WALL s", "PEAK MiB", "FINDINGS", "x KUBELUA"))
  local results = run_all(form)
  for s, subject in ipairs(SUBJECTS) do
    local r, own = results[s], results[1]
    r.cpu, r.wall = median(r.cpu), median(r.wall)
    if r.found ~= own.found then fail("%s finds something else than kubelua", subject.name) end
    local ratio, least = r.cpu / own.cpu, subject.least and subject.least[form]
    local met = least and (ratio >= least and "met" or "missed")
    print(("%-20s %10.1f %8.3f %9.0f %9d %9.1f%s"):format(subject.name, r.cpu * 1e6 / PODS, r.wall, r.peak, r.count,
      ratio, least and ("  (%s: at least %d)"):format(met, least) or ""))
  end
end

if arg[1] == "--measure" then
  measure(arg[2])
else
  make_files()
  report("list", "A List, as kubectl get pods -o json prints it")
  report("lines", "One document a line")
end
