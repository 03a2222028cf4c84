-- spec/support/rules-page: generates docs/rules.md from the rules that ship, and checks whether it is up to date.
local temp = require "spec.support.temp"

local RULE = [[
-- What this file is about.
local k8s = require "k8s"
local module = require "_module"
k8s.rule {
  id = "one", title = "One thing", severity = "high", category = "Things", why = module.why, how = "Do it.",
  kinds = { "pods", "jobs.batch" }, params = { most = 5, from = {} }, check = function() end, fix = function() end,
}
]]

local folder, page

local function run(argument)
  return temp.run(("cd '%s' && \"$OLDPWD/spec/support/rules-page\" %s"):format(folder, argument))
end

describe("rules-page", function()
  before_each(function()
    folder = temp.folder {
      ["scripts/rules/things.lua"] = RULE,
      ["scripts/rules/_module.lua"] = 'return { why = "Because." }\n',
      ["scripts/rules/examples/one/fail.yaml"] = "# Not so.\n# finds Pod/web spec\nkind: Pod\n",
      ["docs/rules.md"] = "old\n",
    }
    page = run ""
  end)
  after_each(function() temp.remove(folder) end)

  it("prints the title, the reason and the remedy of each rule, with the example that fails", function()
    for _, part in ipairs { "1 rules ship in", "| [`one`](#one) | high | One thing | things |",
      "## things\n\n`scripts/rules/things.lua`: What this file is about.",
      "### one\n\n**One thing**\n\nSeverity: high. Category: Things. Kinds: pods, jobs. "
        .. "`kubelua audit --fix` prints a fix.\n\nBecause.\n\nWhat to do: Do it.",
      "their defaults: `from` (none), `most` (5).", "```yaml\n# Not so.\nkind: Pod\n```" } do
      assert.is_truthy(page:find(part, 1, true), part)
    end
  end)

  it("checks whether the page is up to date", function()
    local output, code = run "--check"
    assert.are.same({ "docs/rules.md: out of date: spec/support/rules-page > docs/rules.md\n", 1 }, { output, code })
    run "> docs/rules.md"
    assert.are.same({ "", 0 }, { run "--check" })
    temp.write(folder .. "/scripts/rules/_module.lua", 'return { why = "Why not." }\n')
    assert.are.equal(1, select(2, run "--check"))
  end)
end)
