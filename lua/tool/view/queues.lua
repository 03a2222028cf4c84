-- The table of queues of `kubelua status`, and the reply to `queue`.
local values = require "tool.view.values"
local text_table = require "tool.table"
local units = require "tool.units"

local int, items, shown, text = values.int, values.items, values.shown, values.text

local queues = {}

-- Describes what a failing key waits for, and why.
local function failing(key)
  local retries, error = int(key.retries), text(key.error)
  local waits = key.state == "processing" and "the last in progress" or "the last waiting for a worker"
  if key.state == "delayed" then
    waits = "the next in " .. units.duration(math.floor((int(key.nextTryMilliseconds) + 999) / 1000))
  end
  return ("fails: %s, %d %s, %s%s"):format(text(key.key), retries, retries == 1 and "retry" or "retries", waits,
    error ~= "" and ": " .. error or "")
end

-- The keys behind the numbers.
local function note_keys(rows, queue)
  local keys = items(queue.failingKeys)
  if text(queue.longestKey) ~= "" then rows:note("longest: " .. queue.longestKey) end
  for _, key in ipairs(keys) do rows:note(failing(key)) end
  if int(queue.failing) > #keys then rows:note(("and %d more fail"):format(queue.failing - #keys)) end
end

-- The name of each queue: with its script where several have a queue of that name.
local function names_of(list)
  local count, names = {}, {}
  for _, queue in ipairs(list) do count[text(queue.name)] = (count[text(queue.name)] or 0) + 1 end
  for _, queue in ipairs(list) do
    local script = count[text(queue.name)] > 1 and text(queue.script):match "[^/]+$"
    names[queue] = shown(queue.name) .. (script and " of " .. script or "")
  end
  return names
end

function queues.table(list, view)
  local rows = view.wide
    and text_table.new("QUEUE", ">WORKERS", ">DEPTH", ">DELAYED", ">PROCESSING", ">FAILING", ">RETRIES", ">DROPPED",
      ">ADDS", ">LONGEST", "SCRIPT")
    or text_table.new("QUEUE", ">WORKERS", ">DEPTH", ">DELAYED", ">PROCESSING", ">FAILING", ">RETRIES", ">DROPPED")
  local names = names_of(list)
  for _, queue in ipairs(list) do
    local name = view.wide and shown(queue.name) or names[queue]
    rows:add(name, int(queue.workers), int(queue.depth), int(queue.delayed), int(queue.processing),
      int(queue.failing), int(queue.retries), int(queue.dropped), int(queue.adds),
      units.duration(math.floor(int(queue.longestMilliseconds) / 1000)), shown(queue.script))
    if int(queue.failing) ~= 0 then rows:tint(6, "waiting") end
    if int(queue.dropped) ~= 0 then rows:tint(8, "bad") end
    if queue.shutDown == true then rows:note "shut down" end
    if view.wide then note_keys(rows, queue) end
  end
  return rows
end

return queues
