-- Functions that read and write by others (k8s.ensure, k8s.scale and so on): their errors have their own names.
local cluster = require "spec.support.cluster"

describe("errors of functions that call others", function()
  after_each(cluster.stop_all)

  -- Each call's error or result, a line each, without its place.
  local function lines_of(head, calls)
    local sim = cluster.sim { "--pods", "1" }
    local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script(([[
      local k8s = require "k8s"
      %s
      k8s.main(function()
        local function try(...) print((tostring(select(2, pcall(...))):gsub("^[^ ]*:%%d+: ", ""))) end
        local ref = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "a", namespace = "b" } }
        local bare = { kind = "Deployment", name = "a" }
        %s
      end)]]):format(head, calls)) }
    assert.are.equal(0, engine:wait(30), engine:report())
    return engine:out()
  end

  it("name the function for what is not declared", function()
    assert.are.equal([[
k8s.restart: "deployments.apps:patch" is not declared with k8s.writes
k8s.scale: "deployments.apps/scale:patch" is not declared with k8s.writes
k8s.evict: "pods/eviction:create" is not declared with k8s.writes
k8s.finalizers.add: "deployments.apps:patch" is not declared with k8s.writes
k8s.ensure: "deployments.apps:create" is not declared with k8s.writes
]], lines_of('k8s.writes { "pods:delete" }', [[
        try(k8s.restart, ref)
        try(k8s.scale, ref, 1)
        try(k8s.evict, { kind = "pods", name = "a", namespace = "b" })
        try(k8s.finalizers.add, ref, "example.com/a")
        try(k8s.ensure, ref)]]))
    assert.are.equal('k8s.ensure: "deployments.apps:patch" is not declared with k8s.writes\n',
      lines_of('k8s.writes { "deployments:create" }', "try(k8s.ensure, ref)"))
    assert.are.equal('k8s.ensure: "deployments.apps:get" is not declared with k8s.reads\n',
      lines_of('k8s.reads { "pods:get" } k8s.writes { "deployments:create", "deployments:patch" }',
        "try(k8s.ensure, ref)"))
  end)

  it("name the function for what is missing or wrong", function()
    assert.are.equal([[
k8s.restart: deployments "a" are namespaced; missing namespace
k8s.scale: deployments "a" are namespaced; missing namespace
k8s.ensure: deployments "a" are namespaced; missing namespace
k8s.ensure: the object has no apiVersion and kind
k8s.finalizers.add: the object has no metadata.resourceVersion, the version that is patched
k8s.evict: grace_period must be a duration, such as "30s", not "5q"
informer:wait_for_sync: the timeout must be a number of seconds, or a string such as "90s", "500ms" or "1h30m", not "x"
]], lines_of('local pods = k8s.informer "pods" k8s.writes { "*:*" } k8s.reads { "deployments:get" }', [[
        try(k8s.restart, bare)
        try(k8s.scale, bare, 1)
        ref.metadata.namespace = nil
        try(k8s.ensure, ref)
        ref.metadata.namespace, ref.kind = "b", nil
        try(k8s.ensure, ref)
        ref.kind = "Deployment"
        try(k8s.finalizers.add, ref, "example.com/a")
        try(k8s.evict, { kind = "pods", name = "a", namespace = "b" }, { grace_period = "5q" })
        try(pods.wait_for_sync, pods, "x")]]))
  end)
end)
