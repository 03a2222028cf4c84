-- Scripts that write, for specs: what they begin with, `kubelua exec` of one, and the specs that are the same on a
-- simulated server and on a real one: writes.specify(it, run) makes them; `run(body)` gives what `body` printed.
local assert = require "luassert"
local cluster = require "spec.support.cluster"

local writes = { configmaps = "/api/v1/namespaces/default/configmaps" }

writes.prelude = [[
  local k8s = require "k8s"
  k8s.reads { "*:*" }
  k8s.writes { "configmaps:*", "pods:*", "pods/status:patch", "deployments.apps:*", "odds.example.com:*" }
  k8s.writes { "customresourcedefinitions.apiextensions.k8s.io:create" }
  local function map(name, data)
    return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
  end
  local function failed(object, err)
    print(object, err and err.code, err and err.reason, err and err.message)
  end
  -- What raises, without the place.
  local function raises(fn, ...)
    local ok, err = pcall(fn, ...)
    print(ok, (tostring(err):gsub("^%S-:%d+: ", "")))
  end
]]

-- `kubelua exec` of a script whose main is `body`, with the flags that lead to the server.
function writes.start(connection, body, ...)
  local script = cluster.script(writes.prelude .. "k8s.main(function()\n" .. body .. "\nend)\n")
  return cluster.kubelua { "exec", connection, script, ... }
end

-- The same to its end: what it printed; raises when it did not end well.
function writes.run(connection, body, ...)
  local engine = writes.start(connection, body, ...)
  assert(engine:wait(30) == 0, engine:report())
  return engine:out()
end

function writes.specify(it, run)
  it("create, update, patch and delete", function()
    local out = run [[
      local made = assert(k8s.create(map("a", { colour = "red" })))
      print(made:key(), made.data.colour, #made.metadata.uid)
      failed(k8s.create(map("a")))
      local changed = made:copy()
      changed.data.colour = "green"
      local updated = assert(k8s.update(changed))
      print(updated.data.colour, updated:resource_version() ~= made:resource_version())
      failed(k8s.update(changed))
      print(k8s.patch(updated, { data = { size = "1", colour = k8s.null } }):json():match '"data":(%b{})')
      local ops = { { op = "add", path = "/data/more", value = "x" }, { op = "remove", path = "/data/size" } }
      local last = k8s.patch({ kind = "cm", namespace = "default", name = "a" }, ops, { type = "json" })
      print(last.data.more, last.data.size)
      print(k8s.delete(made))
      failed(k8s.delete(made))
      failed(k8s.get("cm", "default/a"))
    ]]
    local gone = 'nil\t404\tNotFound\tconfigmaps "a" not found\n'
    assert.has_match('^default/a\tred\t36\nnil\t409\tAlreadyExists\tconfigmaps "a" already exists\ngreen\ttrue\n' ..
      'nil\t409\tConflict\tOperation cannot be fulfilled on configmaps "a": the object has been modified;[^\n]+\n' ..
      '{"size":"1"}\nx\tnil\ntrue\n' .. gone .. gone .. "$", out)
  end)

  it("with a lock fail when the object has changed", function()
    local out = run [[
      local old = k8s.create(map("locked", { n = "1" }))
      local new = assert(k8s.patch(old, { data = { n = "2" } }, { lock = true }))
      failed(k8s.patch(old, { data = { n = "3" } }, { lock = true }))
      failed(k8s.patch(old, { { op = "add", path = "/data/n", value = "3" } }, { type = "json", lock = true }))
      failed(k8s.update(old:copy(), { lock = true }))
      failed(k8s.delete(old, { lock = true }))
      failed(k8s.delete(new, { precondition = { uid = "x" } }))
      print(k8s.get("cm", "default/locked").data.n)
      print(k8s.delete(new, { lock = true, precondition = { uid = new:uid() }, propagation = "background" }))
    ]]
    assert.are.equal(5, select(2, out:gsub("nil\t409\tConflict\t", "")), out)
    assert.has_match("\n2\ntrue\n$", out)
  end)
end

return writes
