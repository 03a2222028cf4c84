# Services: EndpointSlices and Endpoints of those with a selector, and of those without.
service() { # NAME SPEC
  k create -f - >/dev/null <<MANIFEST
apiVersion: v1
kind: Service
metadata: {name: $1, labels: {of: $1}}
spec: {$2}
MANIFEST
}
addresses() { # SERVICE COUNT
  until_is "$2" get endpointslices -l "kubernetes.io/service-name=$1" -o 'go-template={{range .items}}{{len (or .endpoints (slice ""))}} {{end}}'
}
# The annotation is for measuring, and has its time; a slice's generation is the server's, not a controller's; ports of
# Endpoints are in the order of their hashes.
changed='del(.metadata.annotations["endpoints.kubernetes.io/last-change-trigger-time"])'
show() {
  objects "map(del(.metadata.generation, .metadata.name) | $changed | .metadata.annotations |= (. // {})
    | if .endpoints then .endpoints |= sort_by(.nodeName) else . end | .ports |= (if . then sort_by(.name) else . end))" \
    endpointslices -l "kubernetes.io/service-name=$1"
  objects "map($changed | .metadata.annotations |= (. // {}))
    | map(.subsets[]? |= ((if .addresses then .addresses |= sort_by(.nodeName) else . end) | .ports |= (if . then sort_by(.name) else . end)))" endpoints --field-selector "metadata.name=$1"
}

kubectl create deployment web --image=i:1 --replicas=2 --port=8080
k patch deployment web --type=json -p '[{"op":"add","path":"/spec/template/spec/containers/0/ports/0/name","value":"http"}]' >/dev/null
last rollout status deployment web --timeout=60s
until_is 2 get pods -l app=web --field-selector status.phase=Running -o 'go-template={{len .items}}'
kubectl expose deployment web --port=80 --target-port=http
addresses web 2
show web
kubectl describe service web
service headless "clusterIP: None, selector: {app: web}, ports: [{name: a, port: 80}, {name: b, port: 443, targetPort: 8443}]"
addresses headless 2
show headless
service bare "clusterIP: None, selector: {app: web}"
addresses bare 2
show bare
service empty "selector: {app: none}, ports: [{port: 80}]"
until_is 1 get endpointslices -l kubernetes.io/service-name=empty -o 'go-template={{len .items}}'
until_is endpoints/empty get endpoints empty -o name
show empty
kubectl get endpoints empty
service lost "selector: {app: web}, ports: [{name: a, port: 80, targetPort: nosuch}, {name: b, port: 81}]"
addresses lost 2
show lost
kubectl patch service web -p '{"spec":{"selector":{"app":"none"}}}'
until_is "0" get endpointslices -l kubernetes.io/service-name=web -o 'go-template={{range .items}}{{len (or .endpoints (slice ""))}} {{end}}'
show web
kubectl patch service web -p '{"spec":{"selector":{"app":"web"}}}'
addresses web 2
kubectl label service web more=yes
until_is yes get endpointslices -l kubernetes.io/service-name=web -o 'jsonpath={.items[*].metadata.labels.more}'
until_is yes get endpoints web -o 'jsonpath={.metadata.labels.more}'
kubectl scale deployment web --replicas=1
addresses web 1
kubectl delete endpointslices -l kubernetes.io/service-name=web
addresses web 1
kubectl delete endpoints web
until_is endpoints/web get endpoints web -o name

# Without a selector: what a client says in Endpoints is mirrored.
service alone "ports: [{port: 80}]"
k create -f - >/dev/null <<'MANIFEST'
apiVersion: v1
kind: Endpoints
metadata: {name: alone, labels: {by: hand}}
subsets: [{addresses: [{ip: 10.1.2.3}, {ip: 10.1.2.4}], ports: [{port: 8080}]}]
MANIFEST
until_is 1 get endpointslices -l kubernetes.io/service-name=alone -o 'go-template={{len .items}}'
show alone
kubectl delete endpoints alone
until_gone endpointslices -l kubernetes.io/service-name=alone
kubectl delete service web headless bare empty lost
until_gone endpointslices,endpoints
