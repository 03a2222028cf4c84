local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"

describe("the prelude", function()
  local record, prelude, load_module

  before_each(function()
    record = {}
    load_module = new_loader(raw_verbs.new(record))
    prelude = load_module "k8s.prelude"
  end)

  local function collect(iterator, state, start)
    local found = {}
    for key, value in iterator, state, start do found[key] = value end
    return found
  end

  it("walks views by pairs and ipairs as it walks tables", function()
    local view = raw_verbs.view { "a", "b", x = 1 }
    assert.same({ "a", "b", x = 1 }, collect(prelude.pairs(view)))
    assert.same({ "a", "b" }, collect(prelude.ipairs(view)))
    assert.same({ "a", "b", x = 1 }, collect(prelude.pairs { "a", "b", x = 1 }))
    assert.same({ "a", "b" }, collect(prelude.ipairs { "a", "b", x = 1 }))
  end)

  it("hands plain tables to Lua's own next, which loops are fast with", function()
    assert.equal(next, (prelude.pairs {}))
  end)

  it("provides next and unpack for views and for tables", function()
    assert.equal("x", (prelude.next(raw_verbs.view { x = 1 })))
    assert.is_nil(prelude.next(raw_verbs.view {}))
    assert.equal("x", (prelude.next { x = 1 }))
    assert.same({ "b", "c" }, { prelude.unpack(raw_verbs.view { "a", "b", "c" }, 2) })
    assert.same({ "a", "b" }, { prelude.unpack({ "a", "b", "c" }, 1, 2) })
    assert.equal(3, select("#", prelude.unpack(raw_verbs.view { "a", nil, nil }, 1, 3)))
  end)

  it("joins views by table.concat", function()
    assert.equal("a, b", prelude.table.concat(raw_verbs.view { "a", "b" }, ", "))
    assert.equal("b", prelude.table.concat(raw_verbs.view { "a", "b", "c" }, ", ", 2, 2))
    assert.equal("1-2", prelude.table.concat({ 1, 2 }, "-"))
  end)

  it("names :copy() when a function would change a view", function()
    local view = raw_verbs.view { "a" }
    for _, call in ipairs {
      function() prelude.table.insert(view, "b") end,
      function() prelude.table.sort(view) end,
      function() prelude.table.remove(view) end,
      function() prelude.rawset(view, 1, "b") end,
      function() prelude.rawget(view, 1) end,
    } do
      assert.error_matches(call, "objects are read%-only; use :copy%(%)")
    end
  end)

  it("leaves the functions of tables as they are for tables", function()
    local t = { 3, 1 }
    prelude.table.insert(t, 2)
    prelude.table.sort(t)
    assert.same({ 1, 2, 3 }, t)
    assert.equal(3, prelude.table.remove(t))
  end)

  it("calls the handler of xpcall after unwinding, with what was raised", function()
    local seen
    local ok, result = prelude.xpcall(function() error({ message = "x" }) end, function(e)
      seen = e
      return "handled"
    end)
    assert.is_false(ok)
    assert.equal("handled", result)
    assert.same({ message = "x" }, seen)
    assert.same({ true, 1, 2 }, { prelude.xpcall(function(...) return ... end, print, 1, 2) })
    assert.error_matches(function() prelude.xpcall(print) end, "handler must be a function")
  end)

  it("shows frozen tables, and lets nobody write to them", function()
    local frozen = load_module("k8s.frozen").freeze("k8s.thing", { a = 1 })
    assert.equal(1, frozen.a)
    assert.same({ a = 1 }, collect(prelude.pairs(frozen)))
    assert.equal("a", (prelude.next(frozen)))
    assert.error_matches(function() frozen.b = 2 end, "k8s.thing is read%-only: b cannot be set")
    assert.error_matches(function() frozen.a = 2 end, "k8s.thing is read%-only: a cannot be set")
    assert.error_matches(function() prelude.rawset(frozen, "a", 2) end, "read%-only")
    assert.error(function() setmetatable(frozen, nil) end)
    assert.equal("frozen", getmetatable(frozen))
  end)
end)
