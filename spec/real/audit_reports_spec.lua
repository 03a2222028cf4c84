-- PolicyReports and Reports of `kubelua audit` on the real API server, by the CRDs that are published with their Go
-- modules: it takes them by kubectl, which validates each field, and knows what they hold.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local readers = require "spec.support.readers"
local temp = require "spec.support.temp"

local rules = [[
local k8s = require "k8s"
k8s.rule {
  id = "image-tag", title = "Images have a tag", severity = "critical", category = "images", kinds = { "pods" },
  check = function(obj, r)
    for i, container in ipairs(obj.spec.containers) do
      if not container.image:match(":[^/]*$") then
        r:fail("image has no tag", { path = "spec.containers[" .. i - 1 .. "].image", value = container.image })
      end
    end
  end,
}
k8s.rule { id = "label", severity = "info", kinds = { "pods", "nodes" },
  check = function(obj, r) if not obj:label "owner" then r:warn "nobody \1 owns it" end end }
]]

local kinds = {
  policyreport = {
    crds = "wgpolicyk8s", severity = "high",
    one = "policyreports.wgpolicyk8s.io", cluster = "clusterpolicyreports.wgpolicyk8s.io",
  },
  openreports = {
    crds = "openreports", severity = "critical",
    one = "reports.openreports.io", cluster = "clusterreports.openreports.io",
  },
}

describe("on the real API server reports of kubelua audit", function()
  local server, folder

  setup(function()
    server = apiserver.start()
    folder = temp.folder { ["rules.lua"] = rules }
  end)
  teardown(function()
    if server then server:stop() end
    temp.remove(folder)
  end)
  after_each(cluster.stop_all)

  local function dump(pods)
    local lines = { cjson.encode { apiVersion = "v1", kind = "Node", metadata = { name = "node-1" } } }
    for i = 1, pods do
      lines[#lines + 1] = cjson.encode {
        apiVersion = "v1", kind = "Pod",
        metadata = {
          name = "web-" .. i, namespace = i == 1 and "ops" or "shop",
          uid = ("%08d-0000-4000-8000-%012d"):format(i, i),
        },
        spec = { containers = { { name = "c", image = i % 2 == 0 and "nginx" or "app:1" } } },
      }
    end
    temp.write(folder .. "/objects.json", table.concat(lines, "\n"))
  end

  local function report(form)
    local p = cluster.kubelua { "audit", "-f", folder .. "/rules.lua", "--from", folder .. "/objects.json", "-o", form }
    assert.are.equal(1, p:wait(60), p:report())
    temp.write(folder .. "/report.yaml", p.streams.out.text)
    return folder .. "/report.yaml"
  end

  local function get(what) return cjson.decode(server:kubectl("get " .. what .. " --output json")) end

  for form, kind in pairs(kinds) do
    it("are taken as " .. form, function()
      local crds, why = readers.run("crds", kind.crds)
      if not crds then return pending(why) end
      server:kubectl("apply --filename " .. crds:match "[^\n]+")
      server:kubectl(("wait --for condition=established crd/%s crd/%s --timeout 20s"):format(kind.one, kind.cluster))
      for _, namespace in ipairs { "ops", "shop" } do server:try_kubectl("create namespace " .. namespace) end

      dump(5)
      server:kubectl("apply --server-side --field-manager kubelua --validate=strict --filename " .. report(form))
      local shop = get(kind.one .. " kubelua-audit --namespace shop")
      assert.are.same({ pass = 2, skip = 0, warn = 4, fail = 2, error = 0 }, shop.summary)
      assert.are.equal(6, #shop.results)
      local first = shop.results[1]
      assert.are.same({ "rules", "image-tag", kind.severity, "fail", "images", "image has no tag" },
        { first.policy, first.rule, first.severity, first.result, first.category, first.message })
      assert.are.same({ { apiVersion = "v1", kind = "Pod", namespace = "shop", name = "web-2",
        uid = "00000002-0000-4000-8000-000000000002", fieldPath = "spec.containers[0].image" } }, first.resources)
      assert.are.same({ pass = 1, skip = 0, warn = 1, fail = 0, error = 0 },
        get(kind.one .. " kubelua-audit --namespace ops").summary)
      local of_cluster = get(kind.cluster .. " kubelua-audit")
      assert.are.same({ "nobody \1 owns it", "node-1" },
        { of_cluster.results[1].message, of_cluster.results[1].resources[1].name })

      -- Once more, by the plain apply, with more than one object may hold.
      dump(1500)
      server:kubectl("apply --force-conflicts --server-side --filename " .. report(form))
      server:kubectl("delete --all --namespace shop " .. kind.one)
      server:kubectl("apply --validate=strict --filename " .. report(form))
      local parts, results, passes = get(kind.one .. " --namespace shop").items, 0, 0
      for _, part in ipairs(parts) do
        results, passes = results + #part.results, passes + part.summary.pass
      end
      assert.are.same({ 1499 + 750, 749 }, { results, passes })
      assert.is_true(#parts > 3)
    end)
  end
end)
