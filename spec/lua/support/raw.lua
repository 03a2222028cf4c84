-- Made-up verbs: views are userdata over plain tables, claims and registrations are recorded.
local raw_verbs = {}

local contents = setmetatable({}, { __mode = "k" })

-- A fake view: userdata, as the real ones are.
function raw_verbs.view(content)
  local view = newproxy(true)
  getmetatable(view).__index = function(_, key) return content[key] end
  getmetatable(view).__len = function() return #content end
  contents[view] = content
  return view
end

local function is(value) return contents[value] ~= nil end

local view_verbs = { is = is }

function view_verbs.pairs(view) return pairs(contents[view]) end
function view_verbs.next(view, key) return next(contents[view], key) end

function view_verbs.ipairs(view)
  return function(_, i)
    local value = contents[view][i + 1]
    if value ~= nil then return i + 1, value end
  end, view, 0
end

function view_verbs.items(view, i, j)
  local items, n = {}, 0
  for k = i or 1, j or #contents[view] do
    n = n + 1
    items[n] = contents[view][k]
  end
  return items, n
end

-- The shortest known name that has all letters of `name`.
local function nearest(name, known)
  local near
  for key in pairs(known) do
    local others = name:lower():gsub("_", ""):gsub(".", function(c) return key:lower():find(c, 1, true) and "" end)
    if others == "" and (not near or #key < #near) then near = key end
  end
  return near
end

-- A new set of verbs; `record` keeps what was asked of it.
function raw_verbs.new(record)
  record = record or {}
  local function noop() end
  local function note_option(verb)
    return function(made, value) made[#made + 1] = verb .. " " .. tostring(value) end
  end
  return {
    raise = function(message) error("raised: " .. message, 0) end,
    view = view_verbs,
    object = { get = noop, key = noop, copy = noop, json = noop, diff = noop },
    json = { encode = noop, decode = noop, array = noop },
    regex = { new = noop, is_utf8 = noop, check = noop, methods = {} },
    schedule = { new = noop, parse = noop, format = noop, duration = noop },
    yaml = { encode = noop, decode = noop, decode_all = noop },
    print = function(...) record.printed = { ... } end,
    log = function(...) record.logged = { ... } end,
    limits = function() end,
    main = function(fn) record.main = fn end,
    main_result = noop,
    note_missing = noop,
    nearest = nearest,
    traceback = noop,
    time = { now = os.time, ago = noop, sleep = noop, every = noop, after = noop, cron = noop },
    leader = { claim = noop, is_leader = noop, on_leader = noop },
    on_stop = noop,
    task = { yielded = {}, busy = {}, callbacks = {}, results = noop, refuse = noop, raise_from = noop },
    check_loading = noop,
    reload = { on_reload = noop },
    plan = {
      add = noop, hash = function() return "hash" end, is_open = noop, code = noop, strings = noop, upvalue = noop,
      environment = noop, metatable = noop,
    },
    metric = { new = noop },
    http = { send = noop },
    base64 = { encode = noop, decode = noop },
    sha256 = noop,
    command = { new = noop, result = noop, runner = noop },
    shard = { owns = noop, status = noop },
    sink = { new = noop, publish = noop, fresh = noop },
    webhook = { new = noop, admits = noop, respond = noop, runner = noop },
    rule = { methods = {}, new = noop, claimed = noop, looks = noop, param = noop, result = noop },
    state = { declare = noop, content = noop, value = noop, sync = noop },
    event = noop,
    check_stack = noop,
    format_arguments = function(...) return ... end,
    less = function(a, b) return a < b end,
    int64 = noop,
    quantity = noop,
    snapshot = noop,
    null = "null",
    queue = { methods = {}, new = noop, get = noop, drain = noop, shut_down = noop },
    job = { result = noop, runner = noop },
    cluster = { find = function() return true end, check = noop, names = noop, changes = noop },
    kinds = { list = noop, check = noop, check_informer = noop },
    live = {
      watch_class = {}, lines_class = {}, raw = noop, logs = noop, lines = noop, line = noop,
      resource = noop, kind = noop, get = noop, page = noop, event = noop, reads = noop, no_watch = noop,
      pages = noop, watch = noop,
    },
    write = { declare = noop, resource = noop, send = noop, type_of = noop, seconds = noop },
    informer = {
      methods = {},
      check = noop,
      wait_version = noop,
      wait_synced = noop,
      resource = noop,
      describe = function() return "informer" end,
      claim = function(...)
        record.claim = { n = select("#", ...), ... }
        return "informer"
      end,
    },
    handler_options = {
      new = function()
        record.options = {}
        return record.options
      end,
      selector = note_option "selector",
      namespace = note_option "namespace",
      path = note_option "path",
      value = note_option "value",
      changed = note_option "changed",
      resync = note_option "resync",
      unchanged = noop,
      split_recreated = noop,
      concurrency = note_option "concurrency",
      debounce = note_option "debounce",
    },
    registration = {
      new = function(...)
        record.registration = { n = select("#", ...), ... }
        return "registration"
      end,
    },
  }
end

return raw_verbs
