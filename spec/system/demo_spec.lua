-- ./dev demo, but for the build: what the README begins with, to its end.
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

-- It runs what `./dev build` made.
if (os.getenv "KUBELUA_PRESET" or "release") == "release" then
  describe("the demo", function()
    local folder
    setup(function() folder = temp.folder() end)
    teardown(function() temp.remove(folder) end)

    it("shows changes and a summary, then what to do next, as lines to be pasted", function()
      local demo = proc.spawn { "scripts/demo/play" }
      assert.are.equal(0, demo:wait(120), demo:report())
      local out = demo:out()
      assert.has_match("\n~ updated  %S+ +image %S+:v%S+ %-> api:v2%.0%.%d", out)
      local edited = out:match "\n$ sed %-i [^\n]*\n(.*)"
      assert.has_match("\n! live +demo%.lua, as edited +[^\n]*\n%? query +tier=db +%d+ Running", edited)
      assert.is_nil(out:match("Synced.*Synced"))
      assert.has_match("\nSummary\n  first list   1000 pods in ", out, 1, true)
      assert.has_match("\n  the engine   %d+ MB resident, ", out)
      local go, rest = out:match "\n\nNext: docs/first%-script%.md, [^\n]*\n( +export [^\n]*\n)(.*)$"
      local shown, code = temp.run(("(set -e\n%scd %s\n%s)"):format(go, folder, rest))
      assert.are.equal(0, code, shown)
      assert.has_match("1 script, 0 errors, 0 warnings", shown, 1, true)
      assert.has_match("1 success / 0 failures", shown, 1, true)
    end)
  end)
end
