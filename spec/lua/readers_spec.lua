-- spec/support/readers says why it cannot read, so that specs are pending on a machine without the tool.
local readers = require "spec.support.readers"
local temp = require "spec.support.temp"

describe("a reader", function()
  local folder
  setup(function()
    folder = temp.folder {}
    for _, tool in ipairs { "bash", "dirname" } do temp.run(("ln -s $(command -v %s) %s/"):format(tool, folder)) end
  end)
  teardown(function() temp.remove(folder) end)

  -- On a machine that has nothing else.
  local function bare(verb, ...)
    local words = table.concat({ "env", "PATH=" .. folder, "spec/support/readers", verb, ... }, " ")
    return temp.run(words)
  end

  it("names the browser, the module or the program that is not there", function()
    for verb, what in pairs { browser = "Chromium", sarif = "node", junit = "python3" } do
      local said, code = bare(verb, "file")
      assert.are.equal(3, code, verb .. ": " .. said)
      assert.has_match(what .. " is needed; there is none here.", said, 1, true)
    end
  end)

  it("is pending with that reason", function()
    local run = temp.run
    finally(function() temp.run = run end)
    temp.run = function() return "Chromium is needed; there is none here.\n", 3 end
    local output, why = readers.run "browser"
    assert.is_nil(output)
    assert.has_match("Chromium is needed", why, 1, true)
  end)
end)
