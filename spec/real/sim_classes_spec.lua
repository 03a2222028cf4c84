-- Classes, drivers of volumes, ranges of addresses and webhooks: the same requests to the simulator and to the real
-- server give the same codes and refusals.
local cjson = require "cjson"
local both_servers = require "spec.support.both_servers"
local same = require "spec.support.same_answers"

-- A path, bodies of creates, an object that is created, and merge patches of it.
local rows = {}

rows[#rows + 1] = { "/apis/networking.k8s.io/v1/ingressclasses", {
  [=[{"spec":{"controller":"a.b/c"},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{"controller":""},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"abc"},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"A_b/c"},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c d"},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/@260"},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n"}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K/","name":"n%"}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":"Odd"}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":"Namespace"}},
    "metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":"Namespace","namespace":"A_"}},
    "metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":"Cluster","namespace":"a"}},
    "metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","apiGroup":"A_"}},
    "metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":"Namespace","namespace":"a"}},
    "metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","apiGroup":""}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
  [=[{"spec":{"controller":"a.b/c","parameters":{"kind":"K","name":"n","scope":""}},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"IngressClass"}]=],
}, [=[{"apiVersion":"networking.k8s.io/v1","kind":"IngressClass","metadata":{"name":"u"},
  "spec":{"controller":"a.b/c"}}]=], {
  [=[{"spec":{"controller":"a.b/d"}}]=],
  [=[{"spec":{"controller":""}}]=],
  [=[{"spec":{"parameters":{}}}]=],
  [=[{"metadata":{"labels":{"a b":"c"}}}]=],
} }
rows[#rows + 1] = { "/apis/networking.k8s.io/v1/ipaddresses", {
  [=[{"metadata":{"name":"10.9.0.1"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"10.9.0.1"},"apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"10.9.0.1"},"spec":{},"apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"10.9.0.1"},"spec":{"parentRef":{"resource":"","name":"","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"10.9.0.1"},"spec":{"parentRef":{"resource":"a/b","name":"%","namespace":"a/",
    "group":"A_"}},"apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"x"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"010.0.0.1"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"2001:db8::1"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"2001:DB8::2"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"::ffff:1.2.3.4"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"fe80::1%eth0"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"a/b"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"generateName":"a-"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"name":"10.9.0.9","generateName":"A_"},
    "spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"metadata":{"generateName":"10.9.0.8"},"spec":{"parentRef":{"resource":"services","name":"a","namespace":"b"}},
    "apiVersion":"networking.k8s.io/v1","kind":"IPAddress"}]=],
  [=[{"spec":{"parentRef":{"name":"x"}}}]=],
  [=[{"spec":{"parentRef":null}}]=],
  [=[{"metadata":{"labels":{"a":"c"}}}]=],
} }
rows[#rows + 1] = { "/apis/networking.k8s.io/v1/servicecidrs", {
  [=[{"spec":{"cidrs":["10.9.0.0/24"]},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":[]},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR"}]=],
  [=[{"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":["x"]},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","10.8.0.0/24"]},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","fd00::/64"]},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","fd00::/64","fd01::/64"]},"metadata":{"name":"bad"},
    "apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR"}]=],
  [=[{"spec":{"cidrs":["10.9.0.1/24"]},"metadata":{"name":"bad"},"apiVersion":"networking.k8s.io/v1",
    "kind":"ServiceCIDR"}]=],
}, [=[{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"u"},
  "spec":{"cidrs":["10.9.0.0/24"]}}]=], {
  [=[{"spec":{"cidrs":["10.8.0.0/24"]}}]=],
  [=[{"spec":{"cidrs":[]}}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","fd00::/64"]}}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","10.8.0.0/24"]}}]=],
  [=[{"spec":{"cidrs":["10.7.0.0/24","fd00::/64"]}}]=],
  [=[{"spec":{"cidrs":["10.9.0.0/24","fd00::/64","fd01::/64"]}}]=],
} }
rows[#rows + 1] = { "/apis/storage.k8s.io/v1/csidrivers", {
  [=[{"spec":{},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver"}]=],
  [=[{"spec":{"fsGroupPolicy":"Odd"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIDriver"}]=],
  [=[{"spec":{"volumeLifecycleModes":["Odd","Persistent"]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSIDriver"}]=],
  [=[{"spec":{"tokenRequests":[{"audience":"a"},{"audience":"a"}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSIDriver"}]=],
  [=[{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":5}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSIDriver"}]=],
  [=[{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":5000000000}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSIDriver"}]=],
  [=[{"spec":{"nodeAllocatableUpdatePeriodSeconds":5},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIDriver"}]=],
  [=[{"spec":{"serviceAccountTokenInSecrets":true},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIDriver"}]=],
  [=[{"spec":{"serviceAccountTokenInSecrets":false},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIDriver"}]=],
}, [=[{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"u"},"spec":{}}]=], {
  [=[{"spec":{"attachRequired":false}}]=],
  [=[{"spec":{"volumeLifecycleModes":["Ephemeral"]}}]=],
  [=[{"spec":{"fsGroupPolicy":"Odd"}}]=],
  [=[{"spec":{"attachRequired":null}}]=],
} }
rows[#rows + 1] = { "/apis/storage.k8s.io/v1/csinodes", {
  [=[{"spec":{"drivers":[]},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{}]},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"a","nodeID":"x"},{"name":"a","nodeID":"x"}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"A_","nodeID":"x"}]},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"A.b","nodeID":"x"}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"@64","nodeID":"@257"}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"a","nodeID":"x","topologyKeys":["","a","a","b c"]}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
  [=[{"spec":{"drivers":[{"name":"a","nodeID":"x","allocatable":{"count":-1}}]},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSINode"}]=],
}, [=[{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"u"},"spec":{"drivers":[{"name":"a",
  "nodeID":"x","topologyKeys":["k"]}]}}]=], {
  [=[{"spec":{"drivers":[{"name":"a","nodeID":"y","topologyKeys":["k"]}]}}]=],
  [=[{"spec":{"drivers":[{"name":"a","nodeID":"x","topologyKeys":["k"],"allocatable":{"count":3}}]}}]=],
  [=[{"spec":{"drivers":[]}}]=],
  [=[{"metadata":{"labels":{"a b":"c"}}}]=],
} }
rows[#rows + 1] = { "/apis/storage.k8s.io/v1/volumeattachments", {
  [=[{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"","nodeName":"n","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"A_","nodeName":"n","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"@64","nodeName":"n","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"N_","source":{"persistentVolumeName":"p"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"n","source":{}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":""}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"P_"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
  [=[{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p","inlineVolumeSpec":{}}},
    "metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment"}]=],
}, [=[{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"u"},"spec":{"attacher":"a",
  "nodeName":"n","source":{"persistentVolumeName":"p"}}}]=], {
  [=[{"spec":{"nodeName":"m"}}]=],
  [=[{"spec":{"nodeName":"M_"}}]=],
  [=[{"metadata":{"labels":{"a":"c"}}}]=],
  [=[{"metadata":{"labels":{"a b":"c"}}}]=],
} }
rows[#rows + 1] = { "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities", {
  [=[{"storageClassName":"a","metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIStorageCapacity"}]=],
  [=[{"storageClassName":"","metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIStorageCapacity"}]=],
  [=[{"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity"}]=],
  [=[{"storageClassName":"A_","metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIStorageCapacity"}]=],
  [=[{"storageClassName":"a","capacity":"-1","metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"CSIStorageCapacity"}]=],
  [=[{"storageClassName":"a","nodeTopology":{"matchLabels":{"a b":"c"}},"metadata":{"name":"bad"},
    "apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity"}]=],
  [=[{"storageClassName":"a","nodeTopology":{"matchExpressions":[{"key":"a","operator":"Odd"}]},
    "metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity"}]=],
}, [=[{"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity","metadata":{"name":"u"},
  "storageClassName":"a","nodeTopology":{"matchLabels":{"a":"b"}}}]=], {
  [=[{"storageClassName":"b"}]=],
  [=[{"nodeTopology":null}]=],
  [=[{"nodeTopology":{"matchLabels":{"a":"c"}}}]=],
  [=[{"capacity":"-1"}]=],
  [=[{"capacity":"1Gi"}]=],
} }
rows[#rows + 1] = { "/apis/storage.k8s.io/v1/volumeattributesclasses", {
  [=[{"driverName":"a","parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"","parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"A_ b","parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"A.b","parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"a","parameters":{"a":"b"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"a","metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttributesClass"}]=],
  [=[{"driverName":"a","parameters":{"a":"b","":"x"},"metadata":{"name":"bad"},"apiVersion":"storage.k8s.io/v1",
    "kind":"VolumeAttributesClass"}]=],
}, [=[{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttributesClass","metadata":{"name":"u"},"driverName":"a",
  "parameters":{"a":"b"}}]=], {
  [=[{"driverName":"b"}]=],
  [=[{"driverName":""}]=],
  [=[{"parameters":{"a":"c"}}]=],
  [=[{"parameters":null}]=],
  [=[{"metadata":{"labels":{"a":"c"}}}]=],
} }
rows[#rows + 1] = { "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"http://a"}}],"metadata":{"name":"bad"},"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"https://u@a/b?c#d"}}],"metadata":{"name":"bad"},
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"%zz"}}],"metadata":{"name":"bad"},"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"https://a"}}],"metadata":{"name":"bad"},
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":""}}],"metadata":{"name":"bad"},"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"https://:1x"}}],"metadata":{"name":"bad"},
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"a b"}}],"metadata":{"name":"bad"},"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"https://a b/"}}],"metadata":{"name":"bad"},
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"/x"}}],"metadata":{"name":"bad"},"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"ValidatingWebhookConfiguration"}]=],
  [=[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
    "clientConfig":{"url":"https:///x"}}],"metadata":{"name":"bad"},
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"}]=],
} }

local function read(text)
  for letter, n in pairs { a = 64, x = 257, c = 260 } do text = text:gsub("@" .. n, letter:rep(n)) end
  return text
end

describe("the simulator as a real server", function()
  local both = both_servers.begin(setup, teardown)

  -- The code; a refusal is the same on both. What is taken has a finalizer on a server.
  local function send(...)
    local code, text = both.real:api():curl(...)
    local sim_code, sim_text = both.sim.api:curl(...)
    assert.equal(code, sim_code, text .. "\n" .. sim_text)
    if code >= 300 then assert.same(same.tidy(text), same.tidy(sim_text)) end
    return code
  end

  it("refuses classes and drivers", function()
    local refused, taken = 0, 0
    for _, row in ipairs(rows) do
      for _, body in ipairs(row[2]) do
        local code = send("POST", row[1] .. "?dryRun=All&fieldValidation=Strict", read(body))
        if code >= 300 then refused = refused + 1 else taken = taken + 1 end
      end
    end
    assert.is_true(refused > 60 and taken > 10, refused .. " " .. taken)
  end)

  it("refuses to change them", function()
    local refused, taken = 0, 0
    for _, row in ipairs(rows) do
      local path = row[3] and row[1] .. "/" .. cjson.decode(row[3]).metadata.name
      if path then assert.equal(201, send("POST", row[1], row[3])) end
      for _, patch in ipairs(path and row[4] or {}) do
        local code = send("PATCH", path .. "?dryRun=All", patch, "application/merge-patch+json")
        if code >= 300 then refused = refused + 1 else taken = taken + 1 end
      end
    end
    assert.is_true(refused > 20 and taken > 5, refused .. " " .. taken)
  end)
end)
