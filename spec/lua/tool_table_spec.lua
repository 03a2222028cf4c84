-- lua/tool/table.lua and units.lua: tables for people.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local text_table = require "tool.table"
local units = require "tool.units"

describe("tables for people", function()
  local function prints(rows, view, ...)
    assert.equal(table.concat({ ... }, "\n") .. "\n", rows:text(view))
  end

  local function new() return text_table.new("NAME", ">COUNT", "STATE") end

  it("have columns as wide as their widest cell", function()
    local rows = new()
    rows:add("a", "7", "synced")
    rows:add("caf\195\169s", 123456, "error")
    rows:tint(3, "bad")
    rows:note "it is forbidden"
    prints(rows, {}, "NAME    COUNT  STATE", "a           7  synced", "caf\195\169s  123456  error",
      "    it is forbidden")
    prints(rows, { width = 17, colours = true }, "NAME    COUNT  ", "a           7  ",
      "caf\195\169s  123456  \27[31m\27[0m", "    it is forb...")
  end)

  it("have no name that pushes the rest off the screen", function()
    local rows = new()
    rows:add("short", "7", "synced")
    rows:add("a name that is longer than what there is", "1", "error")
    rows:note "why"
    rows:note ""
    rows:note(nil)
    rows:note "and why"
    prints(rows, { width = 34 }, "NAME                 COUNT  STATE", "short                    7  synced",
      "a name that is longer than what...", "                         1  error", "    why", "    and why")
    prints(rows, {}, "NAME                                      COUNT  STATE",
      "short                                         7  synced",
      "a name that is longer than what there is      1  error", "    why", "    and why")
  end)

  it("have the ends of long names, where these count", function()
    local rows = new()
    rows.keeps_ends = true
    rows:add("short", "7", "synced")
    rows:add("scripts/of/caf\195\169s/one-with-a-long-name", "1", "error")
    prints(rows, { width = 34 }, "NAME                 COUNT  STATE", "short                    7  synced",
      "...with-a-long-name      1  error")
  end)

  it("have no text that moves the cursor", function()
    local rows = new()
    rows:add("a\27[2J", "1\n2", "b\127")
    rows:note "the server says:\r\n\27]0;x\a"
    prints(rows, { colours = true }, "NAME   COUNT  STATE", "a [2J    1 2  b ", "    the server says:   ]0;x ")
    assert.equal("why: a b\n", text_table.line("why", "a\nb"))
    assert.equal("", text_table.line("why", ""))
  end)

  it("are nothing without rows below an empty line", function()
    local rows = new()
    assert.equal("", rows:block {})
    rows:add("a", 1, "b")
    assert.equal("\n" .. rows:text {}, rows:block {})
  end)
end)

describe("units for people", function()
  it("are short durations and sizes", function()
    for seconds, text in pairs {
      [-3] = "0s", [0] = "0s", [59] = "59s", [60] = "1m", [3661] = "1h1m", [86400] = "1d", [90061] = "1d1h",
      [86400 * 400 + 5] = "400d",
    } do
      assert.equal(text, units.duration(seconds))
    end
    -- As duration.HumanDuration of kubectl has them.
    for seconds, text in pairs {
      [-5] = "0s", [0] = "0s", [105] = "105s", [120] = "2m", [135] = "2m15s", [599] = "9m59s", [660] = "11m",
      [10799] = "179m", [10800] = "3h", [11100] = "3h5m", [28800] = "8h", [172799] = "47h", [172800] = "2d",
      [180000] = "2d2h", [691199] = "7d23h", [1800000] = "20d", [62985600] = "729d", [63072000] = "2y",
      [63158400] = "2y1d", [252288000] = "8y",
    } do assert.equal(text, units.age(seconds)) end
    assert.equal("1023", units.bytes(1023))
    assert.equal("1.5Ki", units.bytes(1536))
    assert.equal("500Mi", units.bytes(500 * 2 ^ 20))
  end)

  it("are seconds since the epoch", function()
    assert.equal(0, units.time "1970-01-01T00:00:00Z")
    assert.equal(951782400, units.time "2000-02-29T00:00:00Z")
    assert.equal(1767225599, units.time "2025-12-31T23:59:59Z")
    assert.equal(1709254861, units.time "2024-03-01T01:01:01Z")
    assert.equal(0, units.time "yesterday")
    assert.equal(0, units.time(nil))
  end)
end)
