# Namespaces: what they have from the beginning, and how they go with their content.
kubectl get serviceaccounts -o name
kubectl get configmaps -o name
kubectl delete configmap kube-root-ca.crt
kubectl delete serviceaccount default
until_is "serviceaccount/default configmap/kube-root-ca.crt" get serviceaccounts,configmaps -o name
kubectl get configmap kube-root-ca.crt -o 'jsonpath={.metadata.annotations}'
kubectl create namespace "$NS-two"
NS=$NS-two
kubectl create deployment web --image=i:1 --replicas=2
until_is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
kubectl create configmap held
kubectl patch configmap held -p '{"metadata":{"finalizers":["example.com/held"]}}'
kubectl delete namespace "$NS" --wait=false
until_is "configmap/held" get deployments,replicasets,pods,configmaps,serviceaccounts -o name
until_is Terminating get namespace "$NS" -o 'jsonpath={.status.phase}'
until_is "True" get namespace "$NS" -o 'jsonpath={.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].status}'
kubectl create configmap more
kubectl get namespace "$NS" -o yaml
kubectl patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'
until_gone namespace "$NS"
kubectl get namespace "$NS"
kubectl create namespace "$NS"
kubectl delete namespace "$NS"
