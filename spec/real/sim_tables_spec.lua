-- Tables of the simulator beside those of the real API server: columns and cells of each kind, of objects with few
-- fields and of some with a status.
local await = require "spec.support.await"
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local smallest = require "spec.support.smallest_objects"

local TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

-- Cells that are a time or an age.
local TIMES = { Age = true, ["Created At"] = true, ["Last Seen"] = true, ["First Seen"] = true, Duration = true }
-- Cells that differ from server to server: an address, and what a controller of the real one says.
local OWN = { ["Cluster-IP"] = true, MissingPL = true }

local function table_of(api, path)
  local pipe = io.popen(("curl --silent --max-time 30 --header 'Accept: %s' %s %s %s '%s%s'"):format(TABLE,
    api.ca and "--cacert " .. api.ca or "", api.cert and "--cert " .. api.cert or "",
    api.key and "--key " .. api.key or "", api.server, path))
  local text = pipe:read "*a"
  pipe:close()
  return cjson.decode(text)
end

-- "Name (string, name, 0) = web", a line for each column.
local function lines(found)
  local rows = {}
  for i, column in ipairs(found.columnDefinitions) do
    local cell = cjson.encode(found.rows[1].cells[i])
    if TIMES[column.name] then
      cell = cell == '""' and cell or "a time"
    elseif OWN[column.name] then
      cell = "its own"
    end
    cell = cell:gsub("%x+%-%x+%-%x+%-%x+%-%x+", "UID") -- a selector of a job has one
    rows[i] = ("%s (%s, %s, %d, %s) = %s"):format(column.name, column.type, column.format, column.priority,
      column.description == "" and "not described" or "described", cell)
  end
  return table.concat(rows, "\n")
end

-- Fields that fill in what the smallest objects lack: { kind, field of the object or nil, subresource status or nil }.
local FILLED = {
  Job = { status = [[{"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:30Z", "succeeded": 2,
    "uncountedTerminatedPods": {}, "conditions": [
      {"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": "2026-01-01T00:01:30Z"},
      {"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:01:30Z"}]}]] },
  PersistentVolumeClaim = { status = [[{"phase": "Bound", "capacity": {"storage": "2Gi"},
    "accessModes": ["ReadWriteMany", "ReadWriteOnce"]}]] },
  ResourceQuota = { status = [[{"hard": {"pods": "10", "limits.cpu": "2", "requests.cpu": "1"},
    "used": {"pods": "3", "limits.cpu": "500m"}}]] },
  HorizontalPodAutoscaler = { status = [[{"currentReplicas": 2, "desiredReplicas": 2,
    "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu",
      "current": {"averageUtilization": 55, "averageValue": "550m"}}}]}]] },
  Ingress = { status = [[{"loadBalancer": {"ingress": [{"ip": "10.1.1.2"}, {"hostname": "a.example.com"}]}}]] },
  StatefulSet = { status = [[{"replicas": 1, "readyReplicas": 1}]] },
  DaemonSet = { status = [[{"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1,
    "numberAvailable": 1, "updatedNumberScheduled": 2, "numberMisscheduled": 0}]] },
  PersistentVolume = { status = [[{"phase": "Available", "reason": "Because"}]] },
  PodDisruptionBudget = { status = [[{"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1,
    "expectedPods": 3}]] },
}

describe("tables of the simulator", function()
  local real, sim
  setup(function()
    real = apiserver.start()
    sim = cluster.sim {}
  end)
  teardown(function()
    cluster.stop_all()
    real:stop()
  end)

  for _, case in ipairs(smallest) do
    local path = case.path .. "/" .. case.object.metadata.name
    it(("show %s as the real server does"):format(case.name), function()
      local apis = { real:api(), sim.api }
      for _, api in ipairs(apis) do api:create(case.path, case.object) end
      assert.equal(lines(table_of(apis[1], path)), lines(table_of(apis[2], path)))
      local filled = FILLED[case.name]
      if not filled then return end
      for _, api in ipairs(apis) do
        api:patch(path .. "/status", { status = cjson.decode(filled.status) }, "merge")
      end
      assert.equal(lines(table_of(apis[1], path)), lines(table_of(apis[2], path)))
      if case.name == "ResourceQuota" then apis[1]:delete(path) end -- it would refuse pods
    end)
  end

  -- Custom kinds without columns, and with one that is called as that of the five kinds below.
  it("have no null for rows of custom kinds", function()
    for name, column in pairs { plains = "", dated = [[,"additionalPrinterColumns":[{"name":"Created At","type":"date",
      "jsonPath":".metadata.creationTimestamp"}] ]] } do
      local definition = cjson.decode(([[{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{"name":"%s.rows.example.com"},"spec":{"group":"rows.example.com","scope":"Cluster",
        "names":{"plural":"%s","kind":"%s"},"versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}%s}]}}]]):format(name, name, (name:gsub("^%l", string.upper)),
        column))
      for _, api in ipairs { real:api(), sim.api } do
        api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        local found
        await(function()
          found = table_of(api, "/apis/rows.example.com/v1/" .. name)
          return found.kind == "Table" or nil
        end, "a table of " .. name, 60)
        assert.same({}, found.rows, name) -- cjson.null is no table
        api:delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" .. definition.metadata.name)
      end
    end
  end)

  it("have null for rows where the real server has it", function()
    local function rows_of(api, path)
      local found = table_of(api, path .. "?labelSelector=has%3Dnone")
      assert.equal("Table", found.kind, path)
      return cjson.encode(found.rows)
    end
    local paths, nulls = { ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions"] = true }, {}
    for _, case in ipairs(smallest) do paths[case.path] = true end
    for path in pairs(paths) do
      local rows = rows_of(real:api(), path)
      assert.equal(rows, rows_of(sim.api, path), path)
      if rows == "null" then nulls[#nulls + 1] = path:match "[^/]+$" end
    end
    table.sort(nulls)
    assert.same({ "clusterroles", "csistoragecapacities", "customresourcedefinitions", "limitranges", "roles" }, nulls)
  end)

  -- { path, object }: what annotations and missing addresses make of a cell.
  for _, case in ipairs {
    { "/apis/networking.k8s.io/v1/namespaces/default/ingresses", [[{"apiVersion": "networking.k8s.io/v1",
      "kind": "Ingress", "metadata": {"name": "old", "annotations": {"kubernetes.io/ingress.class": "nginx"}},
      "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}]] },
    { "/api/v1/persistentvolumes", [[{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "old",
      "annotations": {"volume.beta.kubernetes.io/storage-class": "beta"}}, "spec": {"capacity": {"storage": "1Gi"},
      "accessModes": ["ReadWriteOnce"], "storageClassName": "new", "hostPath": {"path": "/a"}}}]] },
    { "/api/v1/namespaces/default/endpoints", [[{"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "old"},
      "subsets": [{"notReadyAddresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]}]] },
  } do
    local object = cjson.decode(case[2])
    it(("show what is special of %s as the real server does"):format(object.kind), function()
      local apis = { real:api(), sim.api }
      for _, api in ipairs(apis) do api:create(case[1], object) end
      assert.equal(lines(table_of(apis[1], case[1] .. "/old")), lines(table_of(apis[2], case[1] .. "/old")))
    end)
  end
end)
