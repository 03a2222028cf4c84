-- Facts of processes and of the machine, from /proc.
local proc = {}

-- Of a second; the kernel's for all programs.
local TICKS = 100

-- The text of a file; nil when there is none.
function proc.read(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

local function of(pid, name) return proc.read(("/proc/%d/%s"):format(pid, name)) or "" end

-- Bytes of a line "Key:  N kB".
local function bytes(text, key)
  local kilobytes = ("\n" .. text):match("\n" .. key .. ":%s*(%d+)")
  return kilobytes and kilobytes * 1024
end

-- Bytes that are resident, that are no file's, and the most that were resident; nil when the process is gone or the
-- kernel does not tell. The resident size in `status` may be off by some hundred KiB: each CPU keeps a part of the
-- count. What smaps calls private has the pages of files in it that nobody else has mapped just now: they come and go
-- with the neighbours.
function proc.usage(pid)
  local rollup = of(pid, "smaps_rollup")
  local resident, anonymous, peak = bytes(rollup, "Rss"), bytes(rollup, "Anonymous"), bytes(of(pid, "status"), "VmHWM")
  if not (resident and anonymous and peak) then return nil end
  return { resident = resident, private = anonymous, peak = math.max(peak, resident) }
end

-- The peak is counted from now on.
function proc.forget_peak(pid)
  local file = io.open(("/proc/%d/clear_refs"):format(pid), "w")
  if not file then return end
  file:write "5"
  file:close()
end

-- Seconds of CPU of children that ended and were waited for, in `stat` behind a name in parentheses.
function proc.children_cpu_s(pid)
  local rest, ticks, field = of(pid, "stat"):match ".*%)(.*)" or "", 0, 2
  for word in rest:gmatch "%S+" do
    field = field + 1
    if field == 16 or field == 17 then ticks = ticks + tonumber(word) end
  end
  return ticks / TICKS
end

-- Bytes of the machine, "MemTotal", or that can be had without swapping, "MemAvailable"; 0 when the kernel does not
-- tell.
function proc.memory(key) return bytes(proc.read "/proc/meminfo" or "", key) or 0 end

return proc
