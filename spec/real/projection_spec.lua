-- What is kept of objects, on the real API server: metadata alone (F-9), managedFields pruned.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"

local script = [[
  local k8s = require "k8s"
  local function tell(name, options)
    options.namespace, options.selector = "default", "spec=yes"
    local maps = k8s.informer("configmaps", options)
    local function show(map)
      print(("%s %s %s data=%s managed=%s labels=%s"):format(name, map.apiVersion, map.kind,
        tostring(map:get "data.k"), tostring(map.metadata.managedFields ~= nil), tostring(map:label "more")))
    end
    maps:add_event_handler { OnAdd = show, OnUpdate = function(_, map) show(map) end }
  end
  tell("metadata", { metadata_only = true })
  tell("pruned", { prune = { "metadata.managedFields" } })
  tell("whole", {})
]]

describe("on the real API server an informer that keeps a part of its objects", function()
  local server

  setup(function()
    server = apiserver.start()
    server:apply { apiVersion = "v1", kind = "ConfigMap",
      metadata = { name = "one", namespace = "default", labels = { spec = "yes" } }, data = { k = "1" } }
  end)

  teardown(function()
    cluster.stop_all()
    if server then server:stop() end
  end)

  it("sees that part in lists and in watches", function()
    local engine = cluster.run("--kubeconfig=" .. server.kubeconfig, cluster.script(script))
    local function expect(labels, ...)
      for _ = 1, 3 do engine:wait_line("labels=" .. labels .. "$", 60) end
      for _, line in ipairs { ... } do
        assert.is_truthy(engine:out():find(line .. " labels=" .. labels .. "\n", 1, true), line .. engine:out())
      end
    end
    expect("nil", "metadata v1 ConfigMap data=nil managed=true", "pruned v1 ConfigMap data=1 managed=false",
      "whole v1 ConfigMap data=1 managed=true")
    local patch = '{"data":{"k":"2"},"metadata":{"labels":{"more":"x"}}}'
    server:kubectl("patch configmap one --type merge --patch '" .. patch .. "'")
    expect("x", "metadata v1 ConfigMap data=nil managed=true", "pruned v1 ConfigMap data=2 managed=false",
      "whole v1 ConfigMap data=2 managed=true")
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
