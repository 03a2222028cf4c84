-- How the page of an engine looks in a browser: at 400 and 1600 pixels, dark and light, by keyboard, and whether those
-- who look for the first time see what fails.
local browser = require "spec.support.browser"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local WELL = scripts_folder.HEAD .. [[
  local pods = k8s.informer "pods"
  pods:on_add(function() end, { id = "counts" })
  pods:on_update(function() end, { id = "updates" })
  k8s.queue { name = "work" }
]]
local FAILS = scripts_folder.HEAD .. [[
  k8s.informer("pods"):on_add(function() end, { id = "adds" })
  k8s.every("200ms", function() error "no" end)
]]
local ENDLESS = scripts_folder.HEAD .. ([[
  k8s.informer("pods"):on_add(function() %s end, { id = "endless" })
]]):format(scripts_folder.ENDLESS)

-- The place of a heading of the scripts, and of its cells, on the screen; and what is wrong there.
local COLUMN = [[(() => {
  const heads = [...document.querySelectorAll("#scripts th")], at = heads.findIndex((one) => one.textContent === "%s");
  const cells = [heads[at], ...document.querySelectorAll(`#scripts tbody td:nth-child(${at + 1})`)];
  for (const cell of cells) {
    const box = cell.getBoundingClientRect();
    const hidden = box.width === 0 || box.left < 0 || box.right > innerWidth;
    if (hidden) return `${cell.textContent}: ${box.left} to ${box.right}`;
  }
  return "seen";
})()]]

-- Texts that are hard to read: their contrast as WCAG has it, when it is below 4.5.
local FAINT = [[(() => {
  const channels = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.slice(0, 3).map((n) => linear(n / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = channels(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  let looked = 0;
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || one.getClientRects().length === 0) continue;
    const [a, b] = [light(channels(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    looked++;
    if (contrast < 4.5) faint.push(`${one.textContent}: ${contrast.toFixed(2)}`);
  }
  return looked < 20 ? `${looked} texts` : faint.join("; ");
})()]]

-- The element that has the focus, and whether that is seen.
local FOCUSED = [[(() => {
  const one = document.activeElement, style = getComputedStyle(one);
  if (one === document.body) return "nothing";
  const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return `${one.dataset.script || one.getAttribute("aria-labelledby")}${seen ? "" : " unseen"}`;
})()]]

local STATE = [[ [...document.querySelectorAll("#scripts tbody tr")].find((one) =>
  one.cells[0].textContent.includes("/%s")).cells[1].textContent]]

describe("the look of the page", function()
  local place, page, why

  setup(function()
    place = scripts_folder.new()
    for _, name in ipairs { "a-controller-of-deployments", "well" } do place:write(name .. ".lua", WELL) end
    place:write("fails.lua", FAILS)
    place:write("endless.lua", ENDLESS)
    place:write("refused.lua", WELL)
    local sim = cluster.sim { "--pods", "5" }
    local engine = place:start(sim, nil, { "--ui-bind-address", "127.0.0.1:0", "--limit", "handler-cpu=20ms" })
    local address = engine:err():match 'Serving a page about the engine" address="([^"]+)"'
    place:write("refused.lua", "local x = = 1")
    engine.await("/refused", function(one) return one.reloadError ~= "" and one.reloadError ~= nil end)
    engine.await("/endless", function(one) return one.quarantined[1] end)
    engine.await("/fails", function(one) return one.errors >= 3 end)
    page, why = browser.open("http://" .. address .. "/")
    if page then page:await 'document.querySelectorAll("#scripts tbody tr").length === 5' end
  end)
  teardown(function()
    cluster.stop_all()
    place:remove()
  end)

  -- A test of the page; pending where there is no browser.
  local function looks(name, test)
    it(name, function()
      if not page then return pending(why) end
      test()
    end)
  end

  looks("tells at the first look what fails, and since when", function()
    assert.has_match("^fails for %d+s$", page:eval(STATE:format "fails"))
    assert.are.equal("refused reload", page:eval(STATE:format "refused"))
    assert.are.equal("quarantine", page:eval(STATE:format "endless"))
    assert.are.equal("good", page:eval(STATE:format "well"))
    local problems = page:eval 'document.getElementById("problems").innerText'
    assert.has_match("/fails: fails since 20%d%d%-[%d-]+T[%d:]+Z, %d+ errors in all", problems)
    assert.has_match("/endless: quarantined endless", problems)
    assert.has_match("/refused: ", problems)
    -- A script that failed long ago is neither good nor failing.
    local old = '{ errors: 7, failingSince: "2026-01-02T03:00:00Z", lastErrorTime: "2026-01-02T03:04:00Z" }'
    assert.are.equal("failed 3h ago wait", page:eval(('health(%s, "2026-01-02T06:04:30Z").join(" ")'):format(old)))
    assert.are.equal("fails for 4m30s bad", page:eval(('health(%s, "2026-01-02T03:04:30Z").join(" ")'):format(old)))
    -- Another state does not hide that one fails.
    local both = [[problems({ engine: { now: "2026-01-02T03:04:30Z" }, scripts: [{ name: "both", errors: 7,
      quarantined: [{ id: "x", why: "it spins" }], failingSince: "2026-01-02T03:00:00Z",
      lastErrorTime: "2026-01-02T03:04:00Z" }] }).join("; ")]]
    assert.are.equal("both: quarantined x: it spins; both: fails since 2026-01-02T03:00:00Z, 7 errors in all",
      page:eval(both))
  end)

  looks("has the state and the errors on a screen of 400 pixels, and nothing beyond it", function()
    page:size(400)
    for _, scheme in ipairs { "light", "dark" } do
      page:scheme(scheme)
      assert.are.equal(400, page:eval "document.documentElement.scrollWidth")
      assert.are.equal("", page:eval [[[...document.querySelectorAll(".scroll")].filter((one) =>
        one.scrollWidth > one.clientWidth).map((one) => one.textContent).join("; ")]])
      for _, heading in ipairs { "Script", "State", "Errors" } do
        assert.are.equal("seen", page:eval(COLUMN:format(heading)))
      end
    end
    -- Figures without a column there stand below the name.
    assert.has_match("cpu %d+%.%d%%, [%d.]+Ki, generation 1", page:eval 'document.querySelector("#scripts").innerText')
  end)

  looks("uses a screen of 1600 pixels, with all columns", function()
    page:size(1600)
    assert.are.equal(1600, page:eval "document.documentElement.scrollWidth")
    local right = page:eval [[Math.max(...[...document.querySelectorAll(".scroll")].map((one) =>
      one.getBoundingClientRect().right))]]
    assert.is_true(right > 1560 and right <= 1600, right)
    for _, heading in ipairs {
      "Script", "State", "Errors", "Pending", "Events/s", "Latency", "CPU", "Memory", "Generation",
    } do
      assert.are.equal("seen", page:eval(COLUMN:format(heading)))
    end
    assert.are.equal("none", page:eval 'getComputedStyle(document.querySelector("#scripts small")).display')
  end)

  looks("is worked by keyboard, in order, with a focus that is seen", function()
    page:size(1600)
    local controls = page:eval [[[...document.querySelectorAll("button")].map((one) => one.dataset.script).join(" ")]]
    assert.are.equal(5, select(2, controls:gsub("%S+", "")))
    for name in controls:gmatch "%S+" do
      page:press "Tab"
      assert.are.equal(name, page:eval(FOCUSED))
    end
    local last = controls:match "%S+$"
    page:press "Enter"
    assert.are.equal("true", page:eval 'document.activeElement.getAttribute("aria-expanded")')
    page:await 'document.querySelectorAll("#scripts tr.part").length > 0'
    assert.are.equal(last, page:eval(FOCUSED)) -- it is another element by then
    page:press "Enter"
    assert.are.equal(0, page:eval 'document.querySelectorAll("#scripts tr.part").length')
    page:press "Tab" -- out of the page
    assert.is_nil(controls:find(page:eval(FOCUSED), 1, true))
  end)

  looks("can be read, dark and light", function()
    local grounds = {}
    for _, scheme in ipairs { "light", "dark" } do
      page:scheme(scheme)
      page:await(('matchMedia("(prefers-color-scheme: %s)").matches'):format(scheme))
      for _, width in ipairs { 400, 1600 } do
        page:size(width)
        assert.are.equal("", page:eval(FAINT))
      end
      grounds[#grounds + 1] = page:eval "getComputedStyle(document.body).backgroundColor"
    end
    assert.are.same({ "rgb(255, 255, 255)", "rgb(13, 17, 23)" }, grounds)
  end)
end)
