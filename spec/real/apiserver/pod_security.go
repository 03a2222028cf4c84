// What Kubernetes itself says of pods by the Pod Security Standards, so that a spec can compare it with what rules say.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// checksOf gives the newest version of each check of a level. Those of the baseline count for restricted too, but for
// the ones that a stricter check takes the place of.
func checksOf(level api.Level) []policy.Check {
	overridden := map[policy.CheckID]bool{}
	var checks []policy.Check
	for _, check := range policy.DefaultChecks() {
		for _, id := range check.Versions[len(check.Versions)-1].OverrideCheckIDs {
			overridden[id] = level == api.LevelRestricted
		}
	}
	for _, check := range policy.DefaultChecks() {
		if (level == api.LevelRestricted || check.Level == level) && !overridden[check.ID] {
			checks = append(checks, check)
		}
	}
	return checks
}

// tellPodSecurity prints a line "NAME LEVEL ID,ID" for each pod of a List in a file, with the checks that refuse it.
func tellPodSecurity(file string) error {
	var list corev1.PodList
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for i := range list.Items {
		pod := &list.Items[i]
		for _, level := range []api.Level{api.LevelBaseline, api.LevelRestricted} {
			var refused []string
			for _, check := range checksOf(level) {
				newest := check.Versions[len(check.Versions)-1]
				if !newest.CheckPod(&pod.ObjectMeta, &pod.Spec).Allowed {
					refused = append(refused, string(check.ID))
				}
			}
			sort.Strings(refused)
			fmt.Printf("%s %s %s\n", pod.Name, level, strings.Join(refused, ","))
		}
	}
	return nil
}
