-- What k8s.writes and k8s.reads let through is what is sent: nothing that a script gives is asked twice, by a
-- metamethod least of all. Each verb is tried with a table that has another answer every time.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local head = [[
  local k8s = require "k8s"
  local http = require "http"
  -- `field` is the first value when it is asked for the first time, then the second: false is none.
  local function turning(field, ...)
    local values, asked = { ... }, 0
    return setmetatable({}, { __index = function(_, name)
      if name ~= field then return nil end
      asked = asked + 1
      return values[math.min(asked, #values)] or nil
    end })
  end
  local function map(name)
    return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" } }
  end
  local function tried(...)
    local ok, first, err = pcall(...)
    print(ok and (first and "done" or tostring(err)) or (tostring(first):gsub("^%S-:%d+: ", "")))
  end
  -- Tells when it is asked for what it has not.
  local function trap(name, t)
    return setmetatable(t or {}, {
      __index = function(_, key) print("asked", name, key) end,
      __call = function() print("called", name) end,
      __len = function() print("counted", name) return 0 end,
      __tostring = function() print("shown", name) return name end,
    })
  end
]]

describe("what a script declares #threads", function()
  local sim, folder

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    sim.api:create("/api/v1/namespaces/default/configmaps", {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a", namespace = "default" },
    })
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- What the script printed, and the resources that its writes went to.
  local function exec(text, ...)
    local log = folder .. "/audit.log"
    local p = cluster.kubelua { "exec", "-s", sim.server, "--audit-log", log, cluster.script(head .. text), ... }
    assert.are.equal(0, p:wait(30), p:report())
    local written = {}
    for line in temp.read(log):gmatch "[^\n]+" do
      local entry = cjson.decode(line)
      written[#written + 1] = entry.verb .. " " .. entry.resource
    end
    return p:out(), written
  end

  local every_verb = [[
      tried(k8s.create, map "b", options())
      tried(k8s.update, map "a", options())
      tried(k8s.patch, map "a", {}, options())
      tried(k8s.apply, map "a", map "a", options())
      tried(k8s.delete, map "a", options())
  ]]

  it("is enough for the object, when its subresource is declared and the option turns", function()
    for _, turns in ipairs { '"subresource", false, "status"', '"subresource", "status", false' } do
      local out, written = exec(([[
        k8s.writes { "configmaps/status:*" }
        k8s.main(function()
          local function options() return turning(%s) end
          %s
        end)
      ]]):format(turns, every_verb))
      local expected = {}
      for _, verb in ipairs { "create", "update", "patch", "apply", "delete" } do
        expected[#expected + 1] = ('k8s.%s: "configmaps:%s" is not declared with k8s.writes\n'):format(verb, verb)
      end
      assert.are.equal(table.concat(expected), out)
      assert.are.same({}, written)
    end
  end)

  it("is enough for the subresource, when the object is declared and the option turns", function()
    local _, written = exec([[
      k8s.writes { "configmaps:*" }
      k8s.main(function()
        local function options() return turning("subresource", "status", false) end
    ]] .. every_verb .. [[
        local function options() return turning("subresource", false, "status") end
    ]] .. every_verb .. "end)")
    assert.is_true(#written >= 5)
    for _, what in ipairs(written) do assert.are.equal("configmaps", what:match " (.*)") end
  end)

  it("is enough for kinds that turn, of objects and of references", function()
    local out, written = exec [[
      k8s.writes { "configmaps:*" }
      local function secret(first, second)
        local object = turning("kind", first, second)
        rawset(object, "apiVersion", "v1")
        rawset(object, "metadata", { name = "s", namespace = "default" })
        return object
      end
      local function ref(first, second)
        local it = turning("kind", first, second)
        rawset(it, "name", "s")
        rawset(it, "namespace", "default")
        return it
      end
      k8s.main(function()
        for _, kinds in ipairs { { "ConfigMap", "Secret" }, { "Secret", "ConfigMap" } } do
          for _, verb in ipairs { "create", "update" } do tried(k8s[verb], secret(unpack(kinds))) end
          tried(k8s.patch, ref(unpack(kinds)), {})
          tried(k8s.apply, ref(unpack(kinds)), {})
          tried(k8s.delete, ref(unpack(kinds)))
        end
      end)
    ]]
    local once = "k8s.create: the object has no apiVersion and kind\n"
      .. "k8s.update: the object has no apiVersion and kind\n"
      .. "k8s.patch: a reference needs kind and name\nk8s.apply: a reference needs kind and name\n"
      .. "k8s.delete: a reference needs kind and name\n"
    assert.are.equal(once .. once, out)
    assert.are.same({}, written)
  end)

  it("is all that is sent of an object: a name that a metamethod has is none", function()
    local out, written = exec [[
      k8s.writes { "configmaps:*" }
      k8s.main(function()
        local object = map "a"
        object.metadata = setmetatable({ namespace = "default" }, { __index = { name = "a" } })
        tried(k8s.update, object)
        tried(k8s.delete, object)
        tried(k8s.event, object, "Normal", "Seen", "hello")
      end)
    ]]
    assert.are.equal("k8s.update: missing name of the object\nk8s.delete: missing name of the object\n"
      .. "k8s.event: a reference needs kind and name\n", out)
    assert.are.same({}, written)
  end)

  it("is named in the audit trail, the subresource too", function()
    exec [[
      k8s.writes { "configmaps:patch", "configmaps/status:patch" }
      k8s.main(function()
        tried(k8s.patch, map "a", {})
        tried(k8s.patch, map "a", {}, { subresource = "status" })
      end)
    ]]
    local entries = {}
    for line in temp.read(folder .. "/audit.log"):gmatch "[^\n]+" do entries[#entries + 1] = cjson.decode(line) end
    assert.are.equal(2, #entries)
    assert.are.same({ "configmaps", nil }, { entries[1].resource, entries[1].subresource })
    assert.are.same({ "configmaps/status", "status" }, { entries[2].resource, entries[2].subresource })
  end)

  it("makes the object that the audit trail names: of names another one for a subresource alone", function()
    local out, written = exec [[
      k8s.writes { "configmaps:*" }
      k8s.main(function()
        for _, subresource in ipairs { false, "" } do
          local of = { of = map "a", subresource = subresource or nil }
          tried(k8s.create, map "b", of)
          tried(k8s.update, map "b", of)
        end
      end)
    ]]
    local once = "k8s.create: of is for subresources only; set subresource\n"
      .. "k8s.update: of is for subresources only; set subresource\n"
    assert.are.equal(once .. once, out)
    assert.are.same({}, written)
    assert.are.equal(1, #sim.api:get("/api/v1/namespaces/default/configmaps").items)
  end)

  it("and all other options are read without metamethods", function()
    local out = exec([[
      local function nothing() end
      k8s.reads(trap("k8s.reads", { "*:*" }))
      k8s.writes(trap("k8s.writes", { "*:*" }))
      k8s.limits(trap("k8s.limits", { ["queue-keys"] = 100 }))
      k8s.leader(trap("k8s.leader", { labels = trap "labels" }))
      k8s.on_reload(trap "k8s.on_reload")
      k8s.every("1h", print, trap "k8s.every")
      k8s.after("1h", print, trap "k8s.after")
      k8s.cron("0 3 * * *", print, trap "k8s.cron")
      k8s.command("c", print, trap "k8s.command")
      k8s.state("s", trap "k8s.state")
      k8s.metric.histogram("h", "H.", trap "labels", trap("k8s.metric.histogram", { buckets = trap("b", { 1 }) }))
      k8s.queue(trap("k8s.queue", { name = "q" })):shut_down(trap "queue:shut_down")
      k8s.factory(trap "k8s.factory"):informer("configmaps", trap "factory:informer")
      local maps = k8s.informer("configmaps", trap("k8s.informer", {
        namespaces = trap("namespaces", { "default" }), fields = trap("fields", { "data", "metadata" }),
      }))
      maps:add_event_handler(trap("add_event_handler", {
        OnAdd = nothing, where = trap("where", { ["data.x"] = trap("values", { "1" }) }),
      }))
      maps:on_add(nothing, trap("on_add", { namespaces = trap("namespaces", { "x" }) }))
      k8s.controller(trap("k8s.controller", {
        of = "configmaps", owns = trap("owns", { "secrets" }), watches = trap("watches", { pods = print }),
        reconcile = nothing,
      }))
      k8s.rule(trap("k8s.rule", {
        id = "r", kinds = trap("kinds", { "pods" }), uses = trap("uses", { u = trap("use", { kind = "services" }) }),
        params = trap("params", { p = trap("p", { 1 }) }), check = print,
      }))
      k8s.main(function()
        k8s.list("configmaps", trap "k8s.list")
        for _ in k8s.pages("configmaps", trap "k8s.pages") do break end
        k8s.watch("configmaps", trap("k8s.watch", { resource_version = "1", timeout = 0 }))
        http.request(trap("http.request", { url = "http://127.0.0.1:9/", headers = trap "headers" }))
        k8s.create(trap("create", map "b"), trap "k8s.create")
        k8s.update(trap("update", map "b"), trap "k8s.update")
        k8s.patch(trap("patch", { kind = "cm", namespace = "default", name = "b" }), trap "patch", trap "k8s.patch")
        k8s.apply(trap("apply", map "b"), trap("apply", map "b"), trap "k8s.apply")
        k8s.delete(trap("delete", map "b"), trap("k8s.delete", { precondition = trap "precondition" }))
        k8s.event(trap("event", map "b"), "Normal", "Seen", "hello")
        print "end"
      end)
    ]], "--allow-http", "127.0.0.1:9")
    assert.are.equal("end\n", out)
  end)
end)
