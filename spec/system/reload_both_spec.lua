-- Reloads of `kubelua test` and `kubelua run`: the same edits are taken and refused by both.
local cluster = require "spec.support.cluster"
local report_engine = require "spec.support.report_engine"
local temp = require "spec.support.temp"

local function rule(kind, param)
  return ([[
require("k8s").rule { id = "one", kinds = { "%s" }, params = { %s = 1 }, check = function(_, r) r:warn "seen" end }
]]):format(kind, param)
end

-- `refusal` is what the error of an edit has in it; without it the edit is taken.
local EDITS = {
  {
    name = "from a rule with the parameter to one without it, while the operator gives it",
    text = rule("pods", "most"), refusal = 'no script or rule has a parameter "least"',
  },
  { name = "that keeps the parameter", text = rule("nodes", "least") },
  {
    name = "to a rule about a kind whose CustomResourceDefinition is not installed",
    text = rule("crontabs.stable.example.com", "least"),
  },
  {
    name = "to a rule about a kind that nobody can have",
    text = rule("podz", "least"), refusal = 'the server doesn\'t have a resource type "podz", did you mean "pods"?',
  },
  {
    name = "to an informer of a kind whose CustomResourceDefinition is not installed",
    text = rule("pods", "least") .. 'require("k8s").informer "crontabs.stable.example.com"\n',
    refusal = "a reload does not wait for missing kinds",
  },
}

describe("a reload", function()
  local place, sim
  report_engine.each(before_each, after_each, function(...)
    place, sim = ...
  end)

  -- What is wrong with the edit; "" when it was taken.
  local function in_test(edit)
    local folder = temp.folder {
      ["rules.lua"] = rule("pods", "least"),
      ["edit.lua"] = edit.text,
      ["spec/rules_spec.lua"] = [[
        it("reloads", function()
          local env = require("k8s.test").load("rules.lua", { params = { least = 2 } })
          local file = assert(io.open(FOLDER .. "/edit.lua"))
          local done, problem = env:reload(file:read "*a")
          file:close()
          io.stdout:write("<", done and "" or problem, ">\n")
        end)
      ]],
    }
    temp.write(folder .. "/spec/rules_spec.lua",
      ("local FOLDER = %q\n"):format(folder) .. io.open(folder .. "/spec/rules_spec.lua"):read "*a")
    local p = cluster.kubelua { "test", folder }
    local code, out = p:wait(), p:out()
    temp.remove(folder)
    assert.are.equal(0, code, out)
    return assert(out:match "<(.-)>\n", out)
  end

  local function in_run(edit)
    place:write("rules.lua", rule("pods", "least"))
    local engine = report_engine.start(place, sim, { "--param", "least=2" })
    place:write("rules.lua", edit.text)
    local status = engine.await("rules", function(s) return s.generation == 2 or s.reloadError ~= "" end)
    cluster.terminate(engine)
    return status.reloadError
  end

  for _, edit in ipairs(EDITS) do
    it((edit.refusal and "refuses" or "takes") .. " an edit " .. edit.name, function()
      for _, problem in ipairs { in_test(edit), in_run(edit) } do
        if edit.refusal then
          assert.has_match(edit.refusal, problem, 1, true)
        else
          assert.are.equal("", problem)
        end
      end
    end)
  end
end)
