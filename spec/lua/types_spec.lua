-- types/k8s.lua tells editors of the API; here it is compared with what the engine binds: the tables of the C
-- files and what lua/k8s makes of them.
local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"
local temp = require "spec.support.temp"

local function sorted(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The names in `luaL_Reg NAME[] = { {"get", l_object_get}, ... }` of a C file.
local function bound(file, name)
  local pipe = io.popen("cat core/script/*/" .. file)
  local body = assert(pipe:read("*a"):match("luaL_Reg " .. name .. "%[%] = (%b{})"), file)
  pipe:close()
  local set = {}
  for verb in body:gmatch '{"([%w_]+)"' do set[verb] = function() end end
  assert(next(set), file)
  return set
end

-- The functions that the stubs declare on a local, "lister:get" as "get".
local stubs = ""
for path in io.popen "ls types/*.lua":lines() do stubs = stubs .. "\n" .. temp.read(path) end
local function declared(owner)
  local set = {}
  for name in ("\n" .. stubs):gmatch("\nfunction " .. owner .. "[.:]([%w_]+)%(") do set[name] = true end
  return set
end

describe("types/k8s.lua", function()
  local raw = raw_verbs.new()
  raw.object = bound("bind_object.c", "object_methods")
  raw.json = bound("bind_json.c", "verbs")
  raw.yaml = bound("bind_yaml.c", "verbs")
  raw.base64 = bound("bind_text.c", "base64_verbs")
  raw.informer.methods = bound("bind_informer.c", "informer_methods")
  raw.queue.methods = bound("bind_queue.c", "queue_methods")
  raw.regex.methods = bound("bind_regex.c", "regex_methods")
  local load_module = new_loader(raw)
  local content = load_module("k8s.frozen").content
  content(load_module "k8s") -- loads all of it

  it("has names that specs have too, of which docs/testing.md has a list", function()
    local names, listed = {}, {}
    for name, marks in temp.read("lua/k8s/init.lua"):gmatch "\n([%w_]+) [%w_.:]+ ([*+-]+)" do
      if marks:find("+", 1, true) then names[name] = true end
    end
    local sentence = temp.read("docs/testing.md"):match '`require "k8s"` provides (.-)%.\n'
    for name in sentence:gmatch "`([%w_]+)`" do listed[name] = true end
    assert.is_true(#sorted(names) >= 14)
    assert.same(sorted(names), sorted(listed))
  end)

  it("names the methods of each class, no more and no less", function()
    assert.same(sorted(raw.object), sorted(declared "Object"))
    assert.same(sorted(raw.informer.methods), sorted(declared "Informer"))
    local lister = bound("bind_lister.c", "lister_methods")
    for name, verb in pairs(bound("bind_index.c", "lister_index_methods")) do lister[name] = verb end
    assert.same(sorted(lister), sorted(declared "Lister"))
    assert.same(sorted(bound("bind_reader.c", "watch_methods")), sorted(declared "Watch"))
    assert.same(sorted(bound("bind_query.c", "query_methods")), sorted(declared "Query"))
    assert.same(sorted(bound("bind_snapshot.c", "snapshot_methods")), sorted(declared "Snapshot"))
    assert.same(sorted(bound("bind_registration.c", "registration_methods")), sorted(declared "Registration"))
    assert.same(sorted(bound("bind_time.c", "timer_methods")), sorted(declared "Timer"))
    assert.same(sorted(bound("bind_schedule.c", "schedule_methods")), sorted(declared "Schedule"))
    assert.same(sorted(raw.queue.methods), sorted(declared "Queue"))
    assert.same(sorted(bound("bind_job.c", "job_methods")), sorted(declared "Job"))
    for class, methods in pairs { Counter = "counter", Gauge = "gauge", Histogram = "histogram" } do
      assert.same(sorted(bound("bind_metric.c", methods .. "_methods")), sorted(declared(class)))
    end
    assert.same(sorted(bound("bind_rule.c", "result_methods")), sorted(declared "Result"))
    assert.same(sorted(bound("bind_quantity.c", "quantity_methods")), sorted(declared "Quantity"))
    assert.same(sorted(content(load_module("k8s").factory {})), sorted(declared "Factory"))
    local methods = declared "Cluster"
    methods.name = true
    assert.same(sorted(content(load_module("k8s").cluster "west")), sorted(methods))
  end)

  it("names what k8s shows, no more and no less", function()
    local names = declared "k8s"
    for fields in stubs:gmatch "@class k8s\n(.-)local k8s" do
      for field in fields:gmatch "@field ([%w_]+)" do names[field] = true end
    end
    assert.same(sorted(content(load_module "k8s")), sorted(names))
  end)

  it("names the functions of the tables in k8s, no more and no less", function()
    for _, name in ipairs { "log", "json", "yaml", "base64", "metric", "object", "time", "conditions", "finalizers",
      "shard" } do
      assert.same(sorted(content(load_module("k8s")[name])), sorted(declared(name)))
    end
  end)

  it("names what http shows, no more and no less", function()
    assert.same(sorted(content(load_module "k8s.http")), sorted(declared "http"))
  end)

  it("knows each class that has methods", function()
    local tables = {}
    for line in io.popen "grep -oh 'luaL_Reg [a-z_]*_methods\\[\\]' core/script/*/*.c":lines() do
      local name = line:match "luaL_Reg ([%w_]*)_methods"
      if name ~= "lister_index" then tables[name] = true end
    end
    assert.is_true(#sorted(tables) >= 12)
    for name in pairs(tables) do
      assert.is_truthy(next(declared(name:sub(1, 1):upper() .. name:sub(2))), name)
    end
  end)

  -- The fields of a class of the stubs, with those of the class that it extends.
  local function fields(class)
    local head = "\n%-%-%-@class " .. (class:find "%." and "" or "k8s%.") .. class .. " ?:? ?k?8?s?%.?(%w*)\n(.-)\n"
    local parent, body = stubs:match(head .. "[^-]")
    if not body then -- the last one of a file may end without a local
      parent, body = stubs:match(head .. "\n")
    end
    local names = parent ~= "" and fields(parent) or {}
    for name in body:gmatch "@field ([%w_]+)" do names[name] = true end
    return names
  end

  -- The names that a function takes: what it first has options.check look for.
  local function known_to(call)
    local options = load_module "k8s.options"
    local check, known = options.check, nil
    options.check = function(_, _, names)
      known = known or names
      return check("", nil, names)
    end
    pcall(call)
    options.check = check
    return assert(known)
  end

  it("names the options of each function, no more and no less", function()
    local k8s = load_module "k8s"
    local function fn() end
    local handler_options = load_module "k8s.handler_options"
    local handlers = {}
    for name in pairs(handler_options.WITH_FUNCTIONS) do handlers[name] = true end
    assert.same(sorted(handler_options.KNOWN), sorted(fields "HandlerOptions"))
    assert.same(sorted(handlers), sorted(fields "Handlers"))
    for class, call in pairs {
      TimerOptions = function() k8s.every(1, fn, {}) end,
      CronOptions = function() k8s.cron("@daily", fn, {}) end,
      InformerOptions = function() k8s.informer("pods", {}) end,
      FactoryOptions = function() k8s.factory {} end,
      LeaderOptions = function() k8s.leader {} end,
      QueueOptions = function() k8s.queue {} end,
      ControllerOptions = function() k8s.controller {} end,
      ListOptions = function() k8s.list("pods", {}) end,
      WatchOptions = function() k8s.watch("pods", {}) end,
      CreateOptions = function() k8s.create({}, {}) end,
      UpdateOptions = function() k8s.update({}, {}) end,
      PatchOptions = function() k8s.patch({}, {}, {}) end,
      ApplyOptions = function() k8s.apply({}, {}, {}) end,
      DeleteOptions = function() k8s.delete({}, {}) end,
      ScheduleOptions = function() k8s.schedule("@daily", {}) end,
      OwnerOptions = function() k8s.owner_reference({}, {}) end,
      EvictOptions = function() k8s.evict({}, {}) end,
      RawOptions = function() k8s.raw {} end,
      LogOptions = function() k8s.logs("shop/web", {}) end,
      Condition = function() k8s.conditions.set(nil, {}) end,
      ParamOptions = function() k8s.params { a = { type = "string" } } end,
      CommandOptions = function() k8s.command("name", fn, {}) end,
      WebhookOptions = function() k8s.webhook {} end,
      SinkOptions = function() k8s.sink {} end,
      RuleOptions = function() k8s.rule {} end,
      ReloadOptions = function() k8s.on_reload {} end,
      ["http.Request"] = function() load_module("k8s.http").request {} end,
      StateOptions = function() k8s.state("name", {}) end,
      HistogramOptions = function() k8s.metric.histogram("a", "b", {}, {}) end,
    } do
      assert.same(sorted(known_to(call)), sorted(fields(class)), class)
    end
  end)

  it("names the limits, and the options of a delete, no more and no less", function()
    local limits = {}
    for name in temp.read("core/script/vm/limits.c"):gmatch '%[LIMIT_[%w_]+%] = {"([%w-]+)"' do
      limits[(name:gsub("-", "_"))] = true
    end
    assert.is_true(#sorted(limits) >= 16)
    assert.same(sorted(limits), sorted(fields "Limits"))
    local asked = {}
    for name in stubs:match("precondition%? (%b{})"):gmatch "([%w_]+)%?:" do asked[name] = true end
    local known = temp.read("lua/k8s/delete.lua"):match "local PRECONDITION = (%b{})"
    local names = {}
    for name in known:gmatch "([%w_]+) = " do names[name] = true end
    assert.same(sorted(names), sorted(asked))
  end)

  it("names the fields of an event, no more and no less", function()
    local names = { previous = true } -- which C sets
    for name in pairs(load_module "k8s.event"(1, 2, 3, 4, 5, 6, 7, 8, 9)) do names[name] = true end
    assert.same(sorted(names), sorted(fields "Event"))
  end)

  it("is Lua, and returns a table as require does", function()
    for path in io.popen "ls types/*.lua":lines() do assert.is_true(pcall(dofile, path), path) end
    assert.equal("table", type(dofile "types/k8s.lua"))
  end)
end)
