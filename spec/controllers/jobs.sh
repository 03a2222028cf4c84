# Jobs and CronJobs: completions, indexes, failures, deadlines, suspension, and what is kept of them.
job() { # NAME SPEC [POD-SPEC [ANNOTATIONS]]
  k create -f - >/dev/null <<MANIFEST
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  ${2//; /$'\n'  }
  template:
    metadata: {annotations: {${4:-}}}
    spec: {${3:-restartPolicy: Never}, containers: [{name: c, image: "i:1"}]}
MANIFEST
}
done_is() { until_is "$2" get job "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'; }
fails='sim.kubelua.dev/exit-code: "1"'

kubectl create job once --image=i:1
kubectl wait job once --for=condition=Complete --timeout=60s
kubectl get job once
kubectl get job once -o yaml
with_events job once
any_order get pods -l job-name=once -o 'jsonpath={.items[0].metadata.labels}{.items[0].metadata.finalizers}{.items[0].spec.restartPolicy}'
job many "completions: 3; parallelism: 2"
done_is many "SuccessCriteriaMet Complete"
kubectl get job many -o yaml
any_order get pods -l job-name=many --no-headers -o custom-columns=PHASE:.status.phase
job indexed "completions: 3; parallelism: 3; completionMode: Indexed"
done_is indexed "SuccessCriteriaMet Complete"
kubectl get job indexed -o yaml
any_order get pods -l job-name=indexed --no-headers -o 'custom-columns=LABELS:.metadata.labels.batch\.kubernetes\.io/job-completion-index,HOST:.spec.hostname,ENV:.spec.containers[0].env,NOTE:.metadata.annotations'
job bad "backoffLimit: 0" "" "$fails"
done_is bad "FailureTarget Failed"
kubectl get job bad -o yaml
kubectl wait job bad --for=condition=Complete --timeout=1s
job late "activeDeadlineSeconds: 2" "" 'sim.kubelua.dev/run-for: 60s'
done_is late "FailureTarget Failed"
until_gone pods -l job-name=late
kubectl get job late -o yaml
job idle "suspend: true; parallelism: 2; completions: 2" "" 'sim.kubelua.dev/run-for: 4s'
until_is Suspended get job idle -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'
kubectl get job idle -o yaml
kubectl patch job idle -p '{"spec":{"suspend":false}}'
until_is 2 get job idle -o 'jsonpath={.status.active}'
kubectl patch job idle -p '{"spec":{"suspend":true}}'
until_is "Suspended" get job idle -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'
until_gone pods -l job-name=idle
until_is 0 get job idle -o 'jsonpath={.status.terminating}'
kubectl get job idle -o yaml
kubectl patch job idle -p '{"spec":{"suspend":false}}'
done_is idle "SuccessCriteriaMet Complete"
kubectl get job idle -o yaml
job short "ttlSecondsAfterFinished: 1"
until_gone job short
job killed "backoffLimit: 3" "" 'sim.kubelua.dev/run-for: 5s'
until_is Running get pods -l job-name=killed -o 'jsonpath={.items[*].status.phase}'
k delete pods -l job-name=killed >/dev/null
done_is killed "SuccessCriteriaMet Complete"
kubectl get job killed -o yaml
any_order get jobs --no-headers -o custom-columns=NAME:.metadata.name,GOOD:.status.succeeded,BAD:.status.failed
kubectl delete job once --cascade=foreground
until_gone pods -l job-name=once
kubectl delete job many --cascade=orphan
until_is "" get pods -l job-name=many -o 'jsonpath={.items[*].metadata.finalizers}{.items[*].metadata.ownerReferences}'
any_order get pods -l job-name=many --no-headers -o 'custom-columns=OWNER:.metadata.ownerReferences,FINALIZERS:.metadata.finalizers'

kubectl create cronjob tick --image=i:1 --schedule='* * * * *'
kubectl create cronjob never --image=i:1 --schedule='0 0 29 2 *'
kubectl create cronjob held --image=i:1 --schedule='* * * * *'
kubectl patch cronjob held -p '{"spec":{"suspend":true}}'
kubectl create job by-hand --from=cronjob/never
done_is by-hand "SuccessCriteriaMet Complete"
kubectl get job by-hand -o yaml
LIMIT=90 until_is 1 get cronjob tick -o 'go-template={{if .status.lastSuccessfulTime}}1{{end}}'
kubectl get cronjob tick -o yaml
kubectl get cronjobs
any_order get jobs -o 'jsonpath={range .items[*]}{.metadata.ownerReferences}{"\n"}{end}'
kubectl delete cronjob tick never held
told
