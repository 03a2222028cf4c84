-- lua/sim/checks/pem.lua: blocks as Go's decoder finds them, and no text for which they take long.
package.path = "./lua/?.lua;" .. package.path
local pem = require "sim.checks.pem"

local function blocks_of(text)
  local list = {}
  for kind, inner in pem.blocks(text) do list[#list + 1] = kind .. ":" .. inner end
  return list
end

local function block(kind, inner) return ("-----BEGIN %s-----\n%s-----END %s-----\n"):format(kind, inner, kind) end

describe("blocks of PEM", function()
  it("are found in their order, with what is around them left out", function()
    local text = "before\n" .. block("A", "x\n") .. "between\n" .. block("B B", "y\n") .. "behind"
    assert.are.same({ "A:x\n", "B B:y\n" }, blocks_of(text))
    assert.are.same({}, blocks_of "")
    assert.are.same({}, blocks_of "x-----BEGIN A-----\n-----END A-----")
  end)

  it("begin where an end of the same kind follows", function()
    assert.are.same({ "B:x\n" }, blocks_of("-----BEGIN A-----\n" .. block("B", "x\n")))
    assert.are.same({ "A:-----END B-----\n" }, blocks_of(block("A", "-----END B-----\n")))
    assert.are.same({}, blocks_of "-----END A-----\n-----BEGIN A-----\nx\n")
  end)

  it("take no time that grows faster than their text", function()
    local begins = ("-----BEGIN A-----\n"):rep(60000)
    local many = {}
    for i = 1, 40000 do many[i] = ("-----BEGIN %d-----\n"):format(i) end
    for _, text in ipairs { begins, begins .. "-----END B-----\n", table.concat(many) .. "-----END 0-----\n",
      ("-----END A-----\n"):rep(60000), "-----BEGIN " .. ("A"):rep(1000000) } do
      local since = os.clock()
      assert.are.same({}, blocks_of(text))
      assert.is_true(os.clock() - since < 2, os.clock() - since .. " s of CPU")
    end
  end)
end)
