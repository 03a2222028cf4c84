-- The checks of the source tree find planted faults, and pass what is right.
local temp = require "spec.support.temp"

local function check(name, files)
  local folder = temp.folder(files)
  local output, code = temp.run("spec/support/check-" .. name .. " " .. folder)
  temp.remove(folder)
  return output, code
end

local function passes(name, files)
  local output, code = check(name, files)
  assert.are.equal("", output)
  assert.are.equal(0, code)
end

local function finds(name, finding, files)
  local output, code = check(name, files)
  assert.has_match(finding, output, 1, true)
  assert.are.equal(1, code)
end

describe("check-house", function()
  local wings = table.concat({
    "layer low", "  .       -        what is lowest", "  side    .        what sees it",
    "layer high  sees low but low/side", "  one     -        the first", "  two     one      the second",
    "  also two  extra", "layer extra", "  .       -        apart", "",
  }, "\n")
  local function house(files)
    local all = {
      ["core/wings"] = wings, ["core/low/a.h"] = "", ["core/low/side/b.h"] = "", ["core/high/one/c.h"] = "",
      ["core/high/two/d.h"] = "", ["core/extra/e.h"] = "",
    }
    for path, text in pairs(files) do all[path] = text end
    return all
  end

  it("lets a wing include itself, the wings of its row, and what its layer sees", function()
    passes("house", house {
      ["core/low/side/b.c"] = '#include <stdio.h>\n#include "low/a.h"\n#include "low/side/b.h"\n',
      ["core/high/two/d.c"] = '#include "extra/e.h"\n#include "high/one/c.h"\n#include "low/a.h"\n',
    })
  end)

  it("finds an include of a higher layer, of another wing, and of what a layer is not to see", function()
    finds("house", "core/low/a.c:2: low may not see high/one: it includes high/one/c.h",
      house { ["core/low/a.c"] = '#include "low/a.h"\n  #  include "high/one/c.h"\n' })
    finds("house", "low may not see low/side", house { ["core/low/a.c"] = '#include "low/side/b.h"\n' })
    finds("house", "high/one may not see high/two", house { ["core/high/one/c.c"] = '#include "high/two/d.h"\n' })
    finds("house", "high/one may not see low/side", house { ["core/high/one/c.c"] = '#include "low/side/b.h"\n' })
    finds("house", "high/one may not see extra", house { ["core/high/one/c.c"] = '#include "extra/e.h"\n' })
  end)

  it("keeps an internal header in its wing", function()
    local files = {
      ["core/high/one/c_internal.h"] = "", ["core/high/one/c.c"] = '#include "high/one/c_internal.h"\n',
      ["core/high/two/d.c"] = '#include "high/one/c.h"\n',
    }
    passes("house", house(files))
    files["core/high/two/d.c"] = '#include "high/one/c.h"\n#include "high/one/c_internal.h"\n'
    finds("house", "core/high/two/d.c:2: high/one/c_internal.h belongs to the files of core/high/one", house(files))
  end)

  it("keeps a library in its layer", function()
    finds("house", "only script, tool, sim, world, bench or app may include <lauxlib.h>",
      house { ["core/low/a.c"] = "#include <lauxlib.h>\n" })
  end)

  it("finds what does not exist, what names no directory, and a directory or a row too many", function()
    finds("house", "there is no core/low/gone.h", house { ["core/low/a.c"] = '#include "low/gone.h"\n' })
    finds("house", '"a.h" does not name its folder', house { ["core/low/a.c"] = '#include "a.h"\n' })
    finds("house", "core/cloud has no row in core/wings", house { ["core/cloud/a.c"] = "" })
    finds("house", "there is no folder core/gone", house { ["core/wings"] = wings .. "layer gone\n  .  -  nothing\n" })
    finds("house", "core/low/test_a.c:1: a file of the product is called test_*", house { ["core/low/test_a.c"] = "" })
  end)

  it("finds circles, of units and of directories", function()
    local ring = {}
    for i = 1, 6 do ring["core/low/u" .. i .. ".h"] = ('#include "low/u%d.h"\n'):format(i % 6 + 1) end
    finds("house", "6 units in a circle of includes, at most 5: low/u1 low/u2", house(ring))
    finds("house", "2 folders in a circle of includes, at most 1: high/one high/two", house {
      ["core/wings"] = (wings:gsub("one     %-  ", "one     two")),
      ["core/high/one/c.h"] = '#include "high/two/d.h"\n', ["core/high/two/d.h"] = '#include "high/one/c.h"\n',
    })
  end)

  it("finds a tag that is defined twice", function()
    local once = "static const struct pair {\n  int a;\n} pairs[1];\nenum { A };\nstruct other { int b; };\n"
    passes("house", house { ["core/low/a.c"] = once, ["core/low/side/b.c"] = "struct pair *p = 0;\nenum { A };\n" })
    finds("house", "core/low/side/b.c:2: enum pair is defined in core/low/a.c:1, too",
      house { ["core/low/a.c"] = once, ["core/low/side/b.c"] = "\n  enum pair {\n  B,\n};\n" })
  end)

  it("finds more than 45 files in a directory", function()
    local many = {}
    for i = 1, 45 do many["core/extra/f" .. i .. ".h"] = "" end
    finds("house", "core/low/side/b.h:1: headers cannot be included together: ", house {
      ["core/low/a.h"] = "struct thing { int a; };\n", ["core/low/side/b.h"] = "struct thing { int b; };\n",
    })
    finds("house", "46 files in a folder, at most 45: core/extra", house(many))
  end)
end)

describe("check-style", function()
  local opening = "/* What it is. */\n"

  it("passes a file of the house", function()
    passes("style", { ["core/base/a.c"] = opening .. 'static_assert(1, "");\nvoid my_assert(int);\n' })
  end)

  it("finds an assert in the engine, and none elsewhere", function()
    finds("style", "core/base/a.c:2: must()", { ["core/base/a.c"] = opening .. "assert(x);\n" })
    passes("style", { ["spec/core/a_spec.c"] = "assert(x);\n" })
  end)

  it("finds flags, exit codes and JSON in the engine as a layer, which its drivers know", function()
    finds("style", "core/engine/a.c:2: a driver names flags (ADR 5): --dry-run", {
      ["core/engine/a.c"] = opening .. 'log_info("Disabled by --dry-run");\n',
    })
    finds("style", "core/engine/a.c:2: a driver chooses exit codes (ADR 5): EXIT_USAGE", {
      ["core/engine/a.c"] = opening .. "engine_stop(engine, EXIT_USAGE);\n",
    })
    finds("style", "core/engine/a.c:2: app/admin prints the status (ADR 5): base/text/json_out.h", {
      ["core/engine/a.c"] = opening .. '#include "base/text/json_out.h"\n',
    })
    passes("style", {
      ["core/engine/a.c"] = opening .. "/* --- the end */\n--count;\n",
      ["core/app/a.c"] = opening .. 'f("--dry-run", EXIT_USAGE);\n',
    })
  end)

  it("finds readers of C strings that end at a NUL byte", function()
    finds("style", "core/script/a.c:2: luaL_checkstring ends at a NUL byte: arg_str, or own_text", {
      ["core/script/a.c"] = opening .. "x = luaL_checkstring(L, 1);\n",
    })
    finds("style", "core/script/a.c:2: lua_tostring ends at", {
      ["core/script/a.c"] = opening .. "lua_tostring (L, 1);\n",
    })
    passes("style", {
      ["core/app/a.c"] = opening .. "lua_tostring(L, 1);\n",
      ["core/script/vm/args.h"] = opening .. "return lua_tostring(L, 1);\n",
      ["core/script/a.c"] = opening .. "own_text(L, 1); luaL_checklstring(L, 1, &n); my_lua_tostring(L, 1);\n",
    })
  end)

  it("finds methods of strings in the engine's own Lua", function()
    finds("style", "lua/k8s/a.lua:2: string.find", { ["lua/k8s/a.lua"] = '-- It.\nlocal x = s:find("a")\n' })
    finds("style", "lua/k8s/a.lua:2: string.match", {
      ["lua/k8s/a.lua"] = '-- It.\nlocal x = q:run(f) or s:match "a"\n',
    })
    passes("style", { ["lua/k8s/a.lua"] = '-- It.\nlocal x = string.find(s, "a")\nq:run(f)\n' })
  end)

  it("finds what was put off", function()
    for _, mark in ipairs { "TO" .. "DO", "FIX" .. "ME", "XX" .. "X" } do
      finds("style", "docs/a.md:1: " .. mark, { ["docs/a.md"] = "see " .. mark .. ": later\n" })
    end
  end)

  it("finds files that are too long", function()
    finds("style", "core/base/a.c:451: 451 lines: more than 450",
      { ["core/base/a.c"] = opening .. ("int a;\n"):rep(450) })
    passes("style", { ["core/base/a.c"] = opening .. ("int a;\n"):rep(449) })
  end)

  it("finds a file that does not open with what it is", function()
    finds("style", "core/base/a.h:1: it does not open", { ["core/base/a.h"] = "#pragma once\n" })
    finds("style", "lua/k8s/a.lua:1: it does not open", { ["lua/k8s/a.lua"] = "return {}\n" })
  end)

  it("finds a last line without an end", function()
    finds("style", "docs/a.md:2: it does not end with a newline", { ["docs/a.md"] = "# A\nb" })
    passes("style", { ["docs/a.md"] = "", ["spec/fuzz/corpus/json/a"] = "{}" })
  end)

  it("finds a path of this machine", function()
    finds("style", "docs/a.md:1: a path of this machine", { ["docs/a.md"] = os.getenv("HOME") .. "/thing\n" })
  end)
end)

describe("check-docs", function()
  local function page(text, path)
    return {
      [path or "docs/page.md"] = text,
      ["docs/other.md"] = "# Other\n## The `part`, as [a link](#other) has it\n"
        .. "## Twice\n## Twice\n```\n# no heading\n```\n",
      ["core/base/err.h"] = "",
      ["core/app/cmd/cmd_run.c"] = "",
      dev = "verb_build() {\n}\n",
    }
  end

  it("passes what exists", function()
    passes("docs", page("# Here\n[b](../core/base/err.h#L7) [c](https://x.org/no#part) [d](#here) [e](../docs)"))
    passes("docs", page("[a](other.md#the-part-as-a-link-has-it) [b](other.md#twice) [c](other.md#twice-1)"))
    passes("docs", page("`core/base/err.h` `./dev build` `kubelua run -f x.lua` `kubelua help`\n"))
    passes("docs", page("`apps/v1` `my/own.lua` `core/app/cmd_<name>.c` `/etc/some.yaml`\n"))
  end)

  it("finds links that lead nowhere", function()
    finds("docs", "docs/page.md:2: the link leads nowhere: gone.md", page("\n[a](gone.md#part)\n"))
    finds("docs", "the link leads nowhere: other.md", page("[a](other.md)\n", "README.md"))
    finds("docs", "docs/page.md:1: docs/other.md has no heading #gone", page("[a](other.md#gone)\n"))
    finds("docs", "docs/page.md:1: docs/other.md has no heading #twice-2", page("[a](other.md#twice-2)\n"))
    finds("docs", "docs/page.md:1: docs/other.md has no heading #no-heading", page("[a](other.md#no-heading)\n"))
    finds("docs", "docs/page.md:2: docs/page.md has no heading #there", page("# Here\n[a](#there)\n"))
  end)

  it("finds a row of a table that is there twice", function()
    local head = "| verb | does |\n| --- | --- |\n"
    passes("docs", page(head .. "| `a` | x |\n| `b` | x |\n| c | x |\n| c | y |\n\n" .. head .. "| `a` | y |\n"))
    passes("docs", page(head .. "| `a \\| b` | x |\n| `a \\| c` | x |\n"))
    finds("docs", "docs/page.md:4: a row above begins with `a` too", page(head .. "| `a` | x |\n| `a` | y |\n"))
  end)

  it("finds files that are gone", function()
    finds("docs", "there is no file core/base/gone.h", page("`core/base/gone.h`\n"))
  end)

  it("finds specs that are gone", function()
    local files = page("`base_mem_spec` `./dev build build/release/units/base_mem_spec` `audit_spec`\n")
    files["spec/core/base/text/mem_spec.c"], files["spec/system/audit_spec.lua"] = "", ""
    passes("docs", files)
    finds("docs", "docs/page.md:1: there is no spec base_buf_spec", page("`./dev build base_buf_spec`\n"))
  end)

  it("takes every file name in the picture of the engine", function()
    passes("docs", page("`err.h`\n", "docs/dev/architecture.md"))
    finds("docs", "there is no file gone.c", page("`gone.c`\n", "docs/dev/architecture.md"))
    finds("docs", "there is no file crore/base/err.h", page("`crore/base/err.h`\n", "docs/dev/architecture.md"))
  end)

  it("finds verbs and commands that do not exist", function()
    finds("docs", "there is no ./dev bild", page("Run `./dev bild`.\n"))
    finds("docs", "there is no command kubelua rum", page("`kubelua rum`\n"))
    finds("docs", "docs/page.md:2: there is no command kubelua rum", page("```\n$ build/kubelua rum -f x\n```\n"))
    passes("docs", page("kubelua runs scripts\n"))
  end)
end)

describe("check-contract", function()
  local function page(rows, code, heading)
    local text = "# " .. (heading or "A page") .. "\n\n| id | what | where | spec | how |\n"
    return {
      ["docs/dev/contract.md"] = text .. "| --- | :--- | --- | --- | --- |\n" .. rows .. "\n",
      ["core/informer/queue.c"] = code or "/* Q-7 */\nvoid queue_put(void);\n",
      ["spec/core/queue_spec.c"] = "/* Q-5..Q-8 */\nstatic void test_it_works(void)\n",
      ["spec/system/a_spec.lua"] = "-- Q-7\nit('works well')\n",
    }
  end
  local function row(id, where, spec, how)
    return ("| %s | the queue | %s | %s | %s |"):format(id, where or "`core/informer/queue.c` `queue_put`",
      spec or "`spec/core/queue_spec.c` `test_it_works`, `spec/system/a_spec.lua` `works well`", how or "same")
  end

  it("passes rows that are true, and those with a reason", function()
    passes("contract", page(row "Q-7"))
    passes("contract", page(row("Q-7", nil, nil, "better: it is faster")))
    passes("contract", page(row("Q-8", "", "", "no counterpart: C has no such thing as panics")))
  end)

  it("finds a row without code, spec, or word on how", function()
    finds("contract", "docs/dev/contract.md:5: Q-7: it names no code", page(row("Q-7", "")))
    finds("contract", "Q-7: it names no spec", page(row("Q-7", nil, "-")))
    finds("contract", 'Q-7: neither "same" nor', page(row("Q-7", nil, nil, "")))
    finds("contract", "Q-8: that is no reason", page(row("Q-8", "", "", "no counterpart: none")))
    finds("contract", "Q-7: 4 cells, not 5", page "| Q-7 | what | where | same |")
  end)

  it("finds files, functions and tests that do not exist", function()
    finds("contract", "Q-7: there is no file core/informer/gone.c", page(row("Q-7", "`core/informer/gone.c`")))
    finds("contract", "Q-7: there is no queue_get in core/informer/queue.c",
      page(row("Q-7", "`core/informer/queue.c` `queue_get`")))
    finds("contract", "Q-7: there is no works in spec/core/queue_spec.c",
      page(row("Q-7", nil, "`spec/core/queue_spec.c` `works`")))
    finds("contract", "Q-7: which file is queue_put in?", page(row("Q-7", "`queue_put`")))
  end)

  it("finds files that do not cite the id", function()
    finds("contract", "Q-7: core/informer/queue.c does not cite it", page(row "Q-7", "/* Q-70, XQ-7 */ queue_put"))
    finds("contract", "Q-9: spec/core/queue_spec.c does not cite it", page(row "Q-9", "/* Q-9 */ queue_put"))
    passes("contract", page(row "Q-7", "/* Q-2..Q-9 */ queue_put"))
  end)

  it("finds the words of a decision in broken lines", function()
    local files = page(row("list \\| other error", nil, "`spec/core/queue_spec.c`"),
      "/* Decision table, \"list |\n * other error\": queue_put */")
    finds("contract", "list | other error: spec/core/queue_spec.c does not cite it", files)
    files["spec/core/queue_spec.c"] = '-- "list | other error"'
    passes("contract", files)
  end)

  it("finds an id that is missing or there twice", function()
    finds("contract", "docs/dev/contract.md:1: Q-8 has no row", page(row "Q-7", nil, "Queue (Q-7..Q-8)"))
    finds("contract", "docs/dev/contract.md:1: V2 has no row", page(row "Q-7", nil, "Queue (V2, V3)"))
    finds("contract", "core/informer/queue.c:1: it cites Q-9, which has no row",
      page(row "Q-7", "/* Q-7, Q-9 */\nqueue_put\n", "Queue (Q-7..Q-7)"))
    finds("contract", "docs/dev/contract.md:6: Q-7: it is in line 5 too", page(row "Q-7" .. "\n" .. row "Q-7"))
    finds("contract", "there is no such page", { dev = "" })
  end)
end)

describe("lint", function()
  it("names the existing checks for an unknown one", function()
    local output, code = temp.run("./dev lint speling")
    assert.has_match('there is no check "speling"; there are: format house style', output, 1, true)
    assert.are.equal(2, code)
  end)
end)

describe("check-metrics", function()
  local source = {
    ["core/base/a.c"] = 'METRIC(metric_a, 1, "a_total", "A.")\nstatic METRIC(metric_b, 2, "b_total",\n "B.")',
    ["core/net/c.c"] = 'FAMILY(family_c, 1, HISTOGRAM, "c_seconds", "name,event",\n &calls, "C.");',
    ["core/app/monitor/monitor.c"] = 'put(out, "d_bytes", "gauge", info.d,\n "D.");',
  }
  local function with(table_text)
    local files = { ["docs/metrics.md"] = table_text }
    for path, text in pairs(source) do files[path] = text end
    return files
  end
  local rows = {
    "| `a_total`, `b_total` | counter | | x |\n", "| `c_seconds` | histogram | `name`, `event` | x |\n",
    "| `d_bytes` | gauge | | x |\n",
  }

  it("passes a page that lists every metric as it is", function() passes("metrics", with(table.concat(rows))) end)

  it("finds what is missing, what does not exist and what is another type", function()
    finds("metrics", "docs/metrics.md does not describe d_bytes", with(rows[1] .. rows[2]))
    finds("metrics", "there is no metric e_total", with(table.concat(rows) .. "| `e_total` | counter | | x |\n"))
    finds("metrics", "c_seconds is a histogram with the labels (name,event)",
      with(rows[1] .. rows[3] .. "| `c_seconds` | histogram | `name` | x |\n"))
  end)

  it("finds two at one place of the page", function()
    local files = with(table.concat(rows))
    files["core/net/e.c"] = 'METRIC(metric_e, 2, "e_total", "E.")'
    finds("metrics", "core/net/e.c:1: e_total has the place 2, as one of core/base/a.c", files)
  end)
end)
