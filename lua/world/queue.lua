-- What is to be looked at: keys of controllers in the order in which they came, each once, and keys that wait for
-- their time.
local raw = require "world.raw"

local queue = {}

local MOMENT = 10000 -- microseconds

local items, first, last = {}, 1, 0
local waiting = {} -- ids that are among the items
local heap = {}    -- of timers, the earliest first
local due_of = {}  -- the time that counts for an id
local started = 0

local function id_of(controller, key) return controller.name .. " " .. key end

function queue.add(controller, key)
  local id = id_of(controller, key)
  if waiting[id] then return end
  waiting[id] = true
  last = last + 1
  items[last] = { controller = controller, key = key, id = id }
end

-- The next controller and key; nil if there is none.
function queue.take()
  local item = items[first]
  if not item then return nil end
  items[first] = nil
  first = first + 1
  waiting[item.id] = nil
  return item.controller, item.key
end

function queue.is_empty() return first > last end

local function before(a, b) return a.due < b.due or (a.due == b.due and a.order < b.order) end

local function push(timer)
  local at = #heap + 1
  heap[at] = timer
  while at > 1 and before(timer, heap[math.floor(at / 2)]) do
    local above = math.floor(at / 2)
    heap[at], heap[above] = heap[above], timer
    at = above
  end
end

local function pop()
  local top, tail = heap[1], table.remove(heap)
  if #heap == 0 then return top end
  local at = 1
  heap[1] = tail
  while true do
    local below = at * 2
    if below < #heap and before(heap[below + 1], heap[below]) then below = below + 1 end
    if below > #heap or not before(heap[below], tail) then return top end
    heap[at], heap[below] = heap[below], tail
    at = below
  end
end

-- Adds the key at that time, or earlier if it is waiting for an earlier one.
function queue.add_at(due, controller, key)
  local id = id_of(controller, key)
  if due_of[id] and due_of[id] <= due then return end
  due_of[id] = due
  started = started + 1
  push { due = due, order = started, controller = controller, key = key, id = id }
end

-- Adds the key a moment later, for what many changes at a time have looked at: a set whose pods start. So it is looked
-- at once for all of them.
function queue.add_soon(controller, key) queue.add_at(raw.now() + MOMENT, controller, key) end

-- The earliest time; nil if nothing waits.
function queue.due()
  while heap[1] and due_of[heap[1].id] ~= heap[1].due do pop() end
  return heap[1] and heap[1].due
end

-- Adds the keys whose time has come.
function queue.fire(now)
  local due = queue.due()
  while due and due <= now do
    local timer = pop()
    due_of[timer.id] = nil
    queue.add(timer.controller, timer.key)
    due = queue.due()
  end
end

return queue
