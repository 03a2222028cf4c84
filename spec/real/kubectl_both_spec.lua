-- kubectl as it comes prints the same on the simulator as on a kube-apiserver: what it validates, explains, applies,
-- scales and refuses.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local SCRIPT = [[
kubectl() { "$TOOL" --cache-dir "$HOME_OF/cache" "$@" 2>&1; echo "exit code $?"; }
cd "$HOME_OF"
kubectl create -f map.yaml
kubectl create -f bad.yaml
kubectl create configmap two --from-literal=a=b
kubectl create deployment web --image=nginx --replicas=2
kubectl scale deployment web --replicas=3
kubectl scale deployment web --replicas=5 --current-replicas=9
kubectl get deployment web -o 'jsonpath={.spec.replicas} {.metadata.generation}'
kubectl set image deployment/web nginx=nginx:1.27
kubectl apply --server-side -f map.yaml
kubectl apply -f two.yaml
kubectl diff -f two.yaml
kubectl explain pod.spec.restartPolicy
kubectl explain deployment.spec.strategy --recursive
kubectl label configmap two colour=red
kubectl annotate configmap two note=words
kubectl get configmap two -o name
kubectl auth can-i list pods
kubectl delete configmap one two
kubectl get configmap two
]]

-- Without descriptions, which are one sentence in the simulator.
local function plain(text)
  local kept, described = {}, false
  for line in text:gmatch "[^\n]+" do
    if line:find "^DESCRIPTION:" then described = true end
    if line:find "^FIELDS:" or line:find "^exit code" then described = false end
    if not described then kept[#kept + 1] = (line:gsub("%s+$", "")) end
  end
  return table.concat(kept, "\n")
end

describe("kubectl", function()
  local home
  before_each(function()
    home = temp.folder {
      ["map.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n",
      ["two.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: {a: c}\n",
      ["bad.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndta: {a: b}\n",
      ["script"] = SCRIPT,
    }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(home)
  end)

  it("prints the same on the simulator as on a kube-apiserver", function()
    local environment = ("HOME_OF=%s TOOL=$PWD/build/real/kubectl"):format(home)
    local simulated = temp.run(("%s %s sim -- bash %s/script"):format(environment, cluster.binary, home))
    temp.run("rm -rf " .. home .. "/cache")
    local server = apiserver.start()
    local real = temp.run(("%s KUBECONFIG=%s bash %s/script"):format(environment, server.kubeconfig, home))
    server:stop()
    assert.has_match("configmap/one created\n", real)
    assert.has_match('unknown field "dta"', real)
    assert.are.equal(plain(real), plain(simulated))
  end)
end)
