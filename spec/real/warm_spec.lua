-- `kubelua run --cache-dir` on the real API server, as a user who has what `kubelua rbac --cache-dir` prints.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"
local temp = require "spec.support.temp"

local MAPS = "/api/v1/namespaces/default/configmaps"

-- The second handler is told of changes only; those that come before the first calls are in the adds of the first one.
local script = [[
  local k8s = require "k8s"
  local function teller(who)
    local function tell(what, o, ev)
      print(("%s %s %s %s%s"):format(who, what, o:name(), o.data.n, ev.warm and " warm" or ""))
    end
    return {
      OnAdd = function(o, ev) tell("add", o, ev) end,
      OnUpdate = function(_, o, ev) tell("update", o, ev) end,
      OnDelete = function(o, ev) tell("delete", o, ev) end,
    }
  end
  local maps, changed = k8s.informer("configmaps", { namespace = "default", selector = "warm" }), teller "changed"
  changed.id, changed.initial = "changed", "changed"
  maps:add_event_handler(teller "all")
  maps:add_event_handler(changed)
  k8s.main(function() print "ready" end)
]]

-- The objects that a handler knows by its events, each of which must fit what it knew: { name = data }.
local function known(out)
  local all = {}
  for what, name, n in out:gmatch "all (%l+) (%S+) (%d+)" do
    assert.are.equal(what == "add", all[name] == nil, what .. " of " .. name .. ":\n" .. out)
    all[name] = what ~= "delete" and n or nil
  end
  return all
end

describe("stored caches on the real API server", function()
  local nobody, api, dir

  setup(function()
    nobody = rights.start(script)
    api = nobody.server:api()
  end)
  before_each(function() dir = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(dir)
    api:delete(MAPS .. "?labelSelector=warm")
  end)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  local function map(name)
    return {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, labels = { warm = "yes" } }, data = { n = "1" },
    }
  end

  local function allow(...)
    local json = rights.with_file(nobody:printed(...), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    for document in json:gmatch "%b{}" do
      local role = cjson.decode(document)
      nobody:put(role, role.rules)
      nobody:bind(role)
    end
  end

  local function start()
    local engine = cluster.kubelua {
      "run", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "-f", nobody.path, "--cache-dir",
      dir .. "/cache", "-v1",
    }
    engine:wait_line("^ready$", 60)
    return engine
  end

  local function goes_on()
    for i = 1, 3 do api:create(MAPS, map("map-" .. i)) end
    assert.are.equal(0, cluster.terminate(start()))
    api:delete(MAPS .. "/map-1")
    api:patch(MAPS .. "/map-2", { data = { n = "2" } })
    local engine = start()
    for _, line in ipairs { "changed delete map-1 1\n", "changed update map-2 2\n" } do
      engine:wait_until(function() return engine:out():find(line, 1, true) end, line)
    end
    assert.is_nil(engine:out():find("changed add", 1, true))
    assert.is_nil(engine:out():find "changed %l+ map%-3")
    assert.has_match("all add map-3 1 warm", engine:out(), 1, true)
    engine:wait_until(function()
      return pcall(assert.are.same, { ["map-2"] = "2", ["map-3"] = "1" }, known(engine:out()))
    end, "the changes, by the events of the handler of all")
    engine:wait_error "Starting from the stored caches"
    assert.is_nil(engine:err():find "Failed to watch")
  end

  it("continue, without the right to read kube-system by the server's address and authority", function()
    allow()
    goes_on()
  end)

  it("continue with the permissions of kubelua rbac --cache-dir", function()
    allow "--cache-dir=x"
    goes_on()
    local file = assert(io.open(dir .. "/cache/caches", "rb"))
    local uid = api:get("/api/v1/namespaces/kube-system").metadata.uid
    assert.is_truthy(file:read("*a"):find("uid " .. uid, 1, true))
    file:close()
  end)
end)
