local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"

describe("k8s.informer", function()
  local record, factory

  before_each(function()
    record = {}
    factory = new_loader(raw_verbs.new(record))("k8s.factory")
  end)

  it("claims a kind with the options as they are given", function()
    factory.informer("pods", { namespace = "shop", selector = "app=web", field_selector = "spec.x=1" })
    local options = { namespace = "shop", selector = "app=web", field_selector = "spec.x=1" }
    assert.same({ n = 3, "pods", options }, record.claim)
    factory.informer("pods", { prune = { "a" }, fields = { "b" }, metadata_only = false })
    assert.same({ n = 3, "pods", { prune = { "a" }, fields = { "b" }, metadata_only = false } }, record.claim)
    factory.informer "pods"
    assert.same({ n = 3, "pods", {} }, record.claim)
  end)

  it("refuses a kind that is no string, and unknown options", function()
    assert.error_matches(function() factory.informer() end, "kind must be a string, not nil")
    local function misspelt() factory.informer("pods", { selectr = "a" }) end
    assert.error_matches(misspelt, 'did you mean "selector"')
    local function wrong() factory.informer("pods", { prune = "a" }) end
    assert.error_matches(wrong, "prune must be a table, not string")
  end)

  it("takes values that it does not set from the factory", function()
    local team = factory.factory { namespace = "shop", selector = "team=a", metadata_only = true }
    team:informer "pods"
    assert.same({ n = 3, "pods", { namespace = "shop", selector = "team=a", metadata_only = true } }, record.claim)
    team:informer("pods", { namespace = "other", metadata_only = false })
    assert.same({ n = 3, "pods", { namespace = "other", selector = "team=a", metadata_only = false } }, record.claim)
  end)

  it("takes one namespace or several, its own before those of the factory", function()
    local team = factory.factory { namespaces = { "a", "b" } }
    team:informer "pods"
    assert.same({ n = 3, "pods", { namespaces = { "a", "b" } } }, record.claim)
    team:informer("pods", { namespace = "c" })
    assert.same({ n = 3, "pods", { namespace = "c" } }, record.claim)
    factory.factory({ namespace = "c" }):informer("pods", { namespaces = { "a" } })
    assert.same({ n = 3, "pods", { namespaces = { "a" } } }, record.claim)
    local function both() factory.informer("pods", { namespace = "a", namespaces = { "b" } }) end
    assert.error_matches(both, "namespace and namespaces are mutually exclusive")
  end)

  it("reports it when the factory's method is called with a dot", function()
    local team = factory.factory {}
    assert.error_matches(function() team.informer "pods" end, "called with ':'")
    local function misspelt() team:informr "pods" end
    assert.error_matches(misspelt, 'factory: unknown method "informr", did you mean "informer"')
  end)
end)
