-- New pods, and bodies with fields that stand twice: the same answers of the simulator and of a kube-apiserver.
local both_servers = require "spec.support.both_servers"
local cjson = require "cjson"

local PODS = "/api/v1/namespaces/default/pods"
local HUGE = [["resources":{"requests":{"cpu":"1","memory":"100M"},"limits":{"hugepages-2Mi":"4Mi"}}]]
local ARMOR = "container.apparmor.security.beta.kubernetes.io/"

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  -- Creates a pod of the members of its spec; containers are one unless there are some.
  local function create(members, metadata)
    local containers = members:find '"containers"' and "" or [=[,"containers":[{"name":"c","image":"i"}]]=]
    return ask("POST", PODS .. "?dryRun=All", ([[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"%s},
      "spec":{"restartPolicy":"Always"%s%s%s}}]]):format(metadata or "", members ~= "" and "," or "", members,
      containers))
  end

  it("defaults the resources of whole pods", function()
    local made = create([=["resources":{"limits":{"memory":"4Gi","cpu":"3"}},"initContainers":[
      {"name":"i","image":"i","resources":{"requests":{"cpu":"1500m"}}},{"name":"j","image":"i",
      "restartPolicy":"Always","resources":{"requests":{"cpu":"100m","memory":"1Mi"}}}],
      "containers":[{"name":"c","image":"i",]=] .. HUGE
      .. [=[},{"name":"d","image":"i","resources":{"limits":{"hugepages-2Mi":"4Mi","memory":"1Gi"}}}]]=])
    assert.same({ cpu = "1500m", memory = "1174790400", ["hugepages-2Mi"] = "8Mi" }, made.spec.resources.requests)
    for _, resources in ipairs { [["requests":{"hugepages-2Mi":"8Mi","cpu":"2"}]], [["requests":{"cpu":"2"}]],
      [["limits":{"cpu":"2","memory":"1Gi"}]], [["limits":{}]], "", [["limits":{"memory":"2Gi"}]],
      [["limits":{"cpu":"2","memory":"2Gi"},"requests":{"cpu":"2"}]] } do
      create(([=["resources":{%s},"containers":[{"name":"c","image":"i",%s}]]=]):format(resources, HUGE))
      create(([["resources":{%s}]]):format(resources))
    end
    for _, amounts in ipairs { { "1Ki", "1" }, { "0", "1Mi" }, { "1023", "1" }, { "512Ki", "512Ki" }, { "1k", "24" },
      { "1Gi", "1k" }, { "1500m", "500m" }, { "0.5", "0.25" } } do
      create(([=["resources":{"limits":{"memory":"2Gi"}},"containers":[{"name":"c","image":"i","resources":
        {"requests":{"memory":"%s"}}},{"name":"d","image":"i","resources":{"requests":{"memory":"%s"}}}]]=])
        :format(amounts[1], amounts[2]))
    end
  end)

  it("changes what a pod asks for", function()
    local made = create([=["topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",
      "topologyKey":"a","labelSelector":{},"matchLabelKeys":["l","x"]}],"affinity":{"podAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":{"matchLabels":{"a":"b"}},
      "mismatchLabelKeys":["m"]}]},"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
      "podAffinityTerm":{"topologyKey":"a","labelSelector":{},"matchLabelKeys":["l"]}}]}}]=],
      [[,"labels":{"l":"1","m":"2"}]])
    assert.same({ { key = "l", operator = "In", values = { "1" } } },
      made.spec.topologySpreadConstraints[1].labelSelector.matchExpressions)
    assert.equal(1, create([["terminationGracePeriodSeconds":-5]]).spec.terminationGracePeriodSeconds)
    local sources = create([=["volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"b",
      "path":"p"}},{"podCertificate":{"signerName":"a.b/c","keyType":"ED25519"}}]}}]]=])
    assert.same({ {}, {} }, sources.spec.volumes[1].projected.sources)
  end)

  it("has fields for annotations of AppArmor", function()
    for _, profile in ipairs { "unconfined", "runtime/default", "localhost/a", "localhost/a ", "localhost/" } do
      for _, own in ipairs { "{}", [[{"appArmorProfile":{"type":"Unconfined"}}]] } do
        create(([["securityContext":%s]]):format(own), (',"annotations":{"%sc":"%s"}'):format(ARMOR, profile))
      end
    end
    local annotations = (',"annotations":{"%sc":"unconfined"}'):format(ARMOR)
    local security = create("", annotations).spec.containers[1].securityContext
    assert.same({ appArmorProfile = { type = "Unconfined" } }, security)
    create([["os":{"name":"windows"}]], annotations)
  end)

  it("has an owner for a field that JSON always has, and that is null", function()
    local claims = "/api/v1/namespaces/default/persistentvolumeclaims?dryRun=All"
    for _, reference in ipairs { "dataSource", "dataSourceRef" } do
      for _, group in ipairs { [["apiGroup":null,]], "" } do
        local body = ([=[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{
          "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},
          "%s":{%s"kind":"PersistentVolumeClaim","name":"x"}}}]=]):format(reference, group)
        local real, sim = both.real:api():create(claims, body), both.sim.api:create(claims, body)
        assert.equal(cjson.null, real.spec[reference].apiGroup)
        assert.same(real.spec, sim.spec)
        assert.same(real.metadata.managedFields[1].fieldsV1, sim.metadata.managedFields[1].fieldsV1)
      end
    end
  end)

  it("finds fields that stand twice, and unknown ones, in the order of the text", function()
    local bodies = {
      { "/api/v1/namespaces/default/configmaps", [[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},
        "dta":{"a":"1"},"dta":{"a":"2","a":"3"}}]] },
      { "/api/v1/namespaces/default/configmaps", [[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",
        "labels":{"x":"1","x":"2"},"foo":1},"data":{"a":"1","a":"2"},"data":{"b":"1","b":"1"},"zzz":{"a":1,"a":2}}]] },
      { PODS, [[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","name":"a"},"spec":{"foo":1,"containers":[{
        "name":"c","image":"i","image":"i","bar":[{"x":1,"x":2}],"resources":{"limits":{"cpu":1,"cpu":1}}}],"foo":1,
        "hostPID":true,"hostPID":false}}]] },
      { "/apis/apps/v1/namespaces/default/controllerrevisions", [[{"apiVersion":"apps/v1","kind":"ControllerRevision",
        "metadata":{"name":"a"},"data":{"a":1,"a":2},"revision":1,"revision":1}]] },
      { "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", [=[{"apiVersion":"apiextensions.k8s.io/v1","kind":
        "CustomResourceDefinition","metadata":{"name":"as.x.y"},"spec":{"group":"x.y","group":"x.y","names":{"kind":
        "A","kind":"A"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","type":"object",
        "default":{"a":1,"a":1},"properties":{"a":{"items":{"type":"string","type":"string","foo":1}}}}}}]}}]=] },
    }
    for _, body in ipairs(bodies) do
      local answer = ask("POST", body[1] .. "?dryRun=All&fieldValidation=Strict", body[2])
      assert.equal(400, answer.code)
    end
    -- Messages of patches show the whole object.
    local function patch(how, body)
      local problems = {}
      for i, api in ipairs { both.real:api(), both.sim.api } do
        local code, text = api:curl("PATCH", "/api/v1/namespaces/default?dryRun=All&fieldValidation=Strict", body,
          "application/" .. how .. "-patch+json")
        problems[i] = code .. text:match [[strict decoding error: .-[^\]"]]
      end
      assert.equal(problems[1], problems[2])
      return problems[1]
    end
    for _, how in ipairs { "merge", "strategic-merge" } do
      local said = patch(how, [[ {"metadata":{"labels":{"a":"b","a":"c"}},"foo":1,"foo":{"x":1}}]])
      assert.is_truthy(said:find 'duplicate field ."foo.", unknown field ."foo."')
    end
    local said = patch("json", [=[[{"op":"test","op":"add","path":"/metadata/labels/a","value":"b"}]]=])
    assert.is_truthy(said:find "json patch duplicate field ")
  end)
end)
