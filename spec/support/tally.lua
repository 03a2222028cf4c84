-- Reads what the jobs of a suite left in its folder (see spec/support/job) and judges it.
--   luajit spec/support/tally.lua suite FOLDER     a line for the suite, then what failed with its output in full
--   luajit spec/support/tally.lua total FOLDER...  "N passed, N failed, N skipped"; exit code 1 if any failed
-- A job also fails when it crashes, prints no plan or not the tests it planned, or when a sanitizer reported.

local function read(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read("*a")
  file:close()
  return text
end

local function files(folder)
  local list = {}
  local pipe = io.popen("ls " .. folder)
  for name in pipe:lines() do list[#list + 1] = name end
  pipe:close()
  return list
end

-- One TAP stream. A failed test keeps the "# ..." lines that follow it.
local function parse(text)
  local tap = { passed = 0, skipped = 0, failures = {}, plan = nil }
  local open = nil
  for line in text:gmatch("[^\n]+") do
    local fails, name = line:match("^%s*(n?o?t? ?)ok%s+%d+%s*(.*)$")
    local planned = line:match("^%s*1%.%.(%d+)")
    if planned then
      tap.plan = tonumber(planned)
    elseif not fails then
      if open and line:match("^%s*#") then open.detail[#open.detail + 1] = line end
    elseif name:match("#%s*[Ss][Kk][Ii][Pp]") then
      tap.skipped, open = tap.skipped + 1, nil
    elseif fails == "not " then
      open = { name = name:gsub("^%-%s*", ""), detail = {} }
      tap.failures[#tap.failures + 1] = open
    else
      tap.passed, open = tap.passed + 1, nil
    end
  end
  return tap
end

local function fault(counts, name, ...)
  counts.failed = counts.failed + 1
  counts.faults[#counts.faults + 1] = { name = name, text = table.concat({ ... }, "\n") }
end

local function judge_job(counts, folder, job)
  local out, err = read(folder .. "/" .. job .. ".tap"), read(folder .. "/" .. job .. ".err")
  local code = tonumber(read(folder .. "/" .. job .. ".rc")) or -1
  local tap = parse(out)
  counts.passed = counts.passed + tap.passed
  counts.skipped = counts.skipped + tap.skipped
  for _, failure in ipairs(tap.failures) do
    fault(counts, job .. ": " .. failure.name, table.concat(failure.detail, "\n"))
  end
  local seen = tap.passed + tap.skipped + #tap.failures
  if not tap.plan then
    fault(counts, job .. ": no plan, exit code " .. code, out, err)
  elseif seen ~= tap.plan then
    fault(counts, ("%s: %d tests planned, %d seen, exit code %d"):format(job, tap.plan, seen, code), out, err)
  elseif code ~= 0 and #tap.failures == 0 then
    fault(counts, job .. ": all tests passed, but the exit code is " .. code, out, err)
  elseif #tap.failures > 0 and err ~= "" then
    counts.faults[#counts.faults].text = counts.faults[#counts.faults].text .. "\n" .. err
  end
end

local function judge(folder)
  local counts = { passed = 0, failed = 0, skipped = 0, faults = {} }
  for _, name in ipairs(files(folder)) do
    local job = name:match("^(.*)%.rc$")
    if job == "prepare" then
      fault(counts, "the suite could not be prepared", read(folder .. "/prepare.err"))
    elseif job then
      judge_job(counts, folder, job)
    elseif name:match("^sanitizer%.") then
      fault(counts, "sanitizer report " .. name, read(folder .. "/" .. name))
    end
  end
  return counts
end

local function print_suite(folder)
  local counts = judge(folder)
  print(("%-16s %4d passed, %d failed, %d skipped"):format(folder:match("[^/]+$"), counts.passed, counts.failed, counts.skipped))
  for _, item in ipairs(counts.faults) do
    print("  FAILED " .. item.name)
    for line in item.text:gmatch("[^\n]+") do print("    " .. line) end
  end
end

local function print_total(folders)
  local sum = { passed = 0, failed = 0, skipped = 0 }
  for _, folder in ipairs(folders) do
    local counts = judge(folder)
    for key in pairs(sum) do sum[key] = sum[key] + counts[key] end
  end
  print(("%d passed, %d failed, %d skipped"):format(sum.passed, sum.failed, sum.skipped))
  os.exit(sum.failed == 0 and 0 or 1)
end

if arg[1] == "suite" then
  print_suite(arg[2])
else
  print_total({ unpack(arg, 2) })
end
