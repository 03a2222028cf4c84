-- lua/tool/check/calls.lua and place.lua: where a script calls a function of k8s, and where it says something.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local calls_in = require "tool.check.calls"
local place = require "tool.check.place"

-- The line and whether it is a call; nil when k8s.get is nowhere.
local function get_in(source)
  local found = calls_in(source).get
  if found then return select(2, source:sub(1, found.at):gsub("\n", "")) + 1, found.is_call end
end

describe("calls of k8s", function()
  it("are distinguished from names, comments and texts", function()
    for source, expected in pairs {
      ["k8s.get('pods')"] = { 1, true },
      ["\n\nk8s . get\n(x)"] = { 3, true },
      ["k8s.get{}"] = { 1, true },
      ["k8s.get 'pods'"] = { 1, true },
      ["k8s.get [[pods]]"] = { 1, true },
      ["k8s.get --[[ why ]] ('pods')"] = { 1, true },
      ["#!/usr/bin/kubelua\nk8s.get()"] = { 2, true },
      ["pcall(k8s.get, 1)\nk8s.get(1)"] = { 2, true },
      ["pcall(k8s.get, 1)"] = { 1, false },
      ["local get = k8s.get"] = { 1, false },
      ["x = [==[\n]] ]==]\nk8s.get()"] = { 3, true },
      ["s = 'a\\'b' k8s.get()"] = { 1, true },
      ["s = \"a\\\nb\" k8s.get()"] = { 2, true },
      ["'\\\\' k8s.get()"] = { 1, true },
      ["k8s.get(1)\npcall(k8s.get)\nk8s.get(2)"] = { 1, true },
      [""] = {},
      ["-- k8s.get()"] = {},
      ["--[[\nk8s.get()\n]]"] = {},
      ["--[==[ ]] k8s.get() ]==]"] = {},
      ["'k8s.get()'"] = {},
      ["[[k8s.get()]]"] = {},
      ["my.k8s.get()"] = {},
      ["k8s:get()"] = {},
      ["k8s.gets()"] = {},
      ["xk8s.get()"] = {},
      ["k8s..get()"] = {},
      ["function k8s.get() end"] = {},
      ["'k8s.get()"] = {},
      ["--[[ k8s.get()"] = {},
    } do
      assert.are.same(expected, { get_in(source) }, source)
    end
  end)

  it("are found whatever the text is cut to", function()
    local whole = "#!x\nlocal a = [==[ ]] ]==] --[[ c ]] 'b\\'' k8s . get \"x\" --[=[ ]=] .. k8s.get"
    for from = 1, #whole do
      for last = from, #whole do
        local line = get_in(whole:sub(from, last))
        assert.is_true(line == nil or line <= 2)
      end
    end
  end)
end)

describe("places", function()
  local text = table.concat({
    "local a = 1",
    "pods:on_add(f, { -- where",
    "  where = 1,",
    "})",
    "where = 2",
  }, "\n")
  local script = {
    path = "a.lua", sources = { { path = "a.lua", text = text }, { path = "b.lua", text = "x(\nwhere)" } },
    places = { handler = { pods = { file = "a.lua", line = 2 } } },
  }

  it("are lines of the call that has them, comments apart", function()
    local call = place.of(script, "handler", "pods")
    assert.are.same({ file = "a.lua", line = 3 }, place.find(script, call, "where"))
    assert.are.same({ file = "a.lua", line = 2 }, place.find(script, call, "= 2"))
    assert.are.same({ file = "a.lua", line = 2 }, place.find(script, call))
    assert.are.same({ file = "b.lua", line = 2 }, place.find(script, { file = "b.lua", line = 1 }, "where"))
  end)

  it("are lines of the complete file where no call is known", function()
    assert.is_nil(place.of(script, "handler", "nodes"))
    assert.is_nil(place.of(script, "rule", "pods"))
    assert.are.equal("a.lua:5", place.text(place.find(script, nil, "= 2")))
    assert.are.equal("a.lua", place.text(place.find(script, nil, "nowhere")))
    assert.are.equal("c.lua:7", place.text(place.find(script, { file = "c.lua", line = 7 }, "where")))
  end)
end)
