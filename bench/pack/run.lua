-- run.lua [PODS [RUNS]]: medians of build/release/bench/pack/pack with one and with two packers, in turns, so that what
-- else the machine does meets both alike.
local program = "build/release/bench/pack/pack"
local pods, runs = tonumber(arg[1] or "10000"), tonumber(arg[2] or "5")
local ROUNDS, PACKERS, PHASES = 6, { 1, 2 }, { "sync", "relist", "update" }

if not pods or not runs then
  io.stderr:write "bench/pack/run.lua: PODS and RUNS are numbers\n"
  os.exit(2)
end

local function measure(found, packers)
  local pipe = assert(io.popen(string.format("%s %d %d %d", program, packers, pods, ROUNDS)))
  for line in pipe:lines() do
    local name = line:match "^%S+"
    for key, value in line:gmatch "(%S+)=(%S+)" do
      local values = found[packers][name][key] or {}
      found[packers][name][key] = values
      values[#values + 1] = tonumber(value)
    end
  end
  pipe:close()
end

local function median(values)
  table.sort(values)
  return (values[math.ceil(#values / 2)] + values[math.floor(#values / 2) + 1]) / 2
end

local found = {}
for _, packers in ipairs(PACKERS) do
  found[packers] = {}
  for _, phase in ipairs(PHASES) do found[packers][phase] = {} end
end
for _ = 1, runs do
  for _, packers in ipairs(PACKERS) do measure(found, packers) end
end

print(string.format("%d pods, medians of %d runs; times for one object", pods, runs))
print(string.format("%-8s %8s %12s %9s %9s %12s", "PHASE", "PACKERS", "OBJECTS/S", "WALL us", "CPU us", "BYTES"))
for _, phase in ipairs(PHASES) do
  local one
  for _, packers in ipairs(PACKERS) do
    local figures = found[packers][phase]
    local rate, cpu = median(figures["objects/s"]), median(figures.cpu_us)
    one = one or { rate = rate, cpu = cpu }
    local against = packers == 1 and "" or string.format("  x%.2f, CPU %+.0f %%", rate / one.rate,
      (cpu / one.cpu - 1) * 100)
    print(string.format("%-8s %8d %12.0f %9.2f %9.2f %12.0f%s", phase, packers, rate, median(figures.wall_us), cpu,
      median(figures["bytes/object"]), against))
  end
end
