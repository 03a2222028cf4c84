/* Rows of rules.c, which alone includes this: sets of checks, in the order of Kubernetes' validation
 * functions. */
#pragma once

enum rule_check {
    RULE_REQUIRED,  /* `more` is what the cause says */
    RULE_ENUM,      /* `more` has the values, in quotes */
    RULE_ONE_OF,    /* likewise, and any other is like none */
    RULE_LABEL,     /* an RFC 1123 label */
    RULE_PORT,      /* 1 to 65535 */
    RULE_NOT_BELOW, /* zero */
    RULE_POSITIVE,
    RULE_KEYS,    /* keys of a ConfigMap's data */
    RULE_SELECTS, /* spec.selector has the labels of spec.template */
    RULE_ENTER,   /* the set `more` holds for this value */
    RULE_EACH,    /* and for each element; names are there once */
    RULE_EACH_ANY /* likewise, of elements without a name */
};

struct rule_row {
    const char *set; /* a kind, or a name that others enter; NULL: that of the row above */
    const char *path;
    enum rule_check check;
    const char *more;
};

static const struct rule_row rule_rows[] = {
    {"Pod", "spec", RULE_ENTER, "pod"},
    {"pod", "containers", RULE_REQUIRED, ""},
    {NULL, "containers", RULE_EACH, "container"},
    {NULL, "initContainers", RULE_EACH, "container"},
    {NULL, "restartPolicy", RULE_ENUM, "\"Always\", \"OnFailure\", \"Never\""},
    {NULL, "dnsPolicy", RULE_ENUM, "\"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\""},
    {"container", "name", RULE_REQUIRED, ""},
    {NULL, "name", RULE_LABEL, NULL},
    {NULL, "image", RULE_REQUIRED, ""},
    {NULL, "terminationMessagePolicy", RULE_ENUM, "\"File\", \"FallbackToLogsOnError\""},
    {NULL, "ports", RULE_EACH_ANY, "port"},
    {NULL, "env", RULE_EACH_ANY, "env"},
    {NULL, "volumeMounts", RULE_EACH_ANY, "mount"},
    {NULL, "imagePullPolicy", RULE_ENUM, "\"Always\", \"IfNotPresent\", \"Never\""},
    {"port", "containerPort", RULE_REQUIRED, ""},
    {NULL, "containerPort", RULE_PORT, NULL},
    {NULL, "hostPort", RULE_PORT, NULL},
    {NULL, "protocol", RULE_ENUM, "\"SCTP\", \"TCP\", \"UDP\""},
    {"env", "name", RULE_REQUIRED, ""},
    {"mount", "name", RULE_REQUIRED, ""},
    {NULL, "mountPath", RULE_REQUIRED, ""},

    {"Deployment", "spec.replicas", RULE_NOT_BELOW, NULL},
    {NULL, "spec.selector", RULE_REQUIRED, ""},
    {NULL, "spec", RULE_SELECTS, NULL},
    {NULL, "spec.template.spec", RULE_ENTER, "always"},
    {NULL, "spec.strategy.type", RULE_ENUM, "\"Recreate\", \"RollingUpdate\""},
    {NULL, "spec.minReadySeconds", RULE_NOT_BELOW, NULL},
    {NULL, "spec.revisionHistoryLimit", RULE_NOT_BELOW, NULL},
    {"ReplicaSet", "spec.replicas", RULE_NOT_BELOW, NULL},
    {NULL, "spec.minReadySeconds", RULE_NOT_BELOW, NULL},
    {NULL, "spec.selector", RULE_REQUIRED, ""},
    {NULL, "spec", RULE_SELECTS, NULL},
    {NULL, "spec.template.spec", RULE_ENTER, "always"},
    {"always", "", RULE_ENTER, "pod"},
    {NULL, "restartPolicy", RULE_ENUM, "\"Always\""},
    {"Job", "spec.parallelism", RULE_NOT_BELOW, NULL},
    {NULL, "spec.completions", RULE_NOT_BELOW, NULL},
    {NULL, "spec.backoffLimit", RULE_NOT_BELOW, NULL},
    {NULL, "spec.template.spec", RULE_ENTER, "pod"},
    {NULL, "spec.template.spec.restartPolicy", RULE_ONE_OF, "\"OnFailure\", \"Never\""},

    {"Service", "spec.ports", RULE_EACH_ANY, "service port"},
    {NULL, "spec.sessionAffinity", RULE_ENUM, "\"ClientIP\", \"None\""},
    {NULL, "spec.type", RULE_ENUM, "\"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\""},
    {"service port", "port", RULE_PORT, "0"},
    {NULL, "targetPort", RULE_PORT, "0"},
    {NULL, "protocol", RULE_ENUM, "\"SCTP\", \"TCP\", \"UDP\""},
    {"ConfigMap", "data", RULE_KEYS, NULL},
    {NULL, "binaryData", RULE_KEYS, NULL},
    {"Secret", "data", RULE_KEYS, NULL},
    {"Role", "rules", RULE_EACH_ANY, "policy rule"},
    {"policy rule", "verbs", RULE_REQUIRED, "verbs must contain at least one value"},
    {NULL, "apiGroups", RULE_REQUIRED, "resource rules must supply at least one api group"},
    {NULL, "resources", RULE_REQUIRED, "resource rules must supply at least one resource"},
    {"PersistentVolumeClaim", "spec.accessModes", RULE_REQUIRED, "at least 1 access mode is required"},
    {"Lease", "spec.leaseDurationSeconds", RULE_POSITIVE, NULL},
    {NULL, "spec.leaseTransitions", RULE_NOT_BELOW, NULL},
};

/* Fields that keep their value. */
static const struct rule_fixed {
    const char *kind, *path, *detail;
} rule_fixed[] = {
    {"Deployment", "spec.selector", "field is immutable"},
    {"ReplicaSet", "spec.selector", "field is immutable"},
    {"DaemonSet", "spec.selector", "field is immutable"},
    {"Job", "spec.selector", "field is immutable"},
    {"Job", "spec.completionMode", "field is immutable"},
    {"Secret", "type", "field is immutable"},
    {"RoleBinding", "roleRef", "cannot change roleRef"},
    {"ClusterRoleBinding", "roleRef", "cannot change roleRef"},
    {"StorageClass", "provisioner", "updates to provisioner are forbidden."},
};
