local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"

describe("an informer", function()
  local record, raw

  before_each(function()
    record = {}
    raw = raw_verbs.new(record)
    new_loader(raw)("k8s.informer")
  end)

  it("registers the functions of a handler table", function()
    local handler = { OnAdd = print, OnDelete = type, id = "mine" }
    assert.equal("registration", raw.informer.methods.add_event_handler("informer", handler))
    assert.same({ n = 11, "informer", print, nil, type, nil, nil, "mine", {} }, record.registration)
  end)

  it("refuses a handler table without a function, or with an unknown name", function()
    local add = raw.informer.methods.add_event_handler
    assert.error_matches(function() add("informer", {}) end, "at least one of OnAdd, OnUpdate, OnDelete and OnLost")
    assert.error_matches(function() add("informer", { onadd = print }) end, 'did you mean "OnAdd"')
    assert.error_matches(function() add("informer", { OnAdd = "print" }) end, "OnAdd must be a function")
  end)

  it("has a shorthand for each event", function()
    raw.informer.methods.on_add("informer", print)
    assert.same({ n = 11, "informer", print, nil, nil, nil, nil, nil, {} }, record.registration)
    raw.informer.methods.on_update("informer", print, { id = "x" })
    assert.same({ n = 11, "informer", nil, print, nil, nil, nil, "x", {} }, record.registration)
    raw.informer.methods.on_delete("informer", print)
    assert.same({ n = 11, "informer", nil, nil, print, nil, nil, nil, {} }, record.registration)
    raw.informer.methods.on_lost("informer", print)
    assert.same({ n = 11, "informer", nil, nil, nil, print, nil, nil, {} }, record.registration)
    local on_add = raw.informer.methods.on_add
    assert.error_matches(function() on_add("informer") end, "on_add: expected a function, not nil")
    assert.error_matches(function() on_add("informer", print, { ID = "x" }) end, 'did you mean "id"')
  end)
end)
