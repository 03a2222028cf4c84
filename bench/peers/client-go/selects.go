package main

import (
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	selectKey   = "app.kubernetes.io/version"
	selectCalls = 200
	// A call of the dynamic lister takes half a second at 100,000 pods: then the median is of fewer.
	selectPatience = 20 * time.Second
)

// measureSelects adds to the line what a list by a label and a list of one namespace take. Label and namespace are
// those of the first pod by name.
func measureSelects(subject *subject, line map[string]any) error {
	first, err := firstByName(subject.informer.GetStore().List())
	if err != nil {
		return err
	}
	value, ok := first.GetLabels()[selectKey]
	if !ok {
		return errors.New("the first pod by name, " + first.GetName() + ", has no label " + selectKey)
	}
	selector, err := labels.Parse(selectKey + "=" + value)
	if err != nil {
		return err
	}
	label := func() (int, error) { return subject.byLabel(selector) }
	namespace := func() (int, error) { return subject.inNamespace(first.GetNamespace()) }
	if line["select_label_us"], line["select_hits"], err = medianOf(label); err != nil {
		return err
	}
	line["select_namespace_us"], line["select_namespace_hits"], err = medianOf(namespace)
	return err
}

func firstByName(objects []any) (metav1.Object, error) {
	var first metav1.Object
	for _, object := range objects {
		pod := object.(metav1.Object)
		if first == nil || pod.GetName() < first.GetName() {
			first = pod
		}
	}
	if first == nil {
		return nil, errors.New("there are no pods to select from")
	}
	return first, nil
}

func medianOf(call func() (int, error)) (us float64, hits int, err error) {
	var took []time.Duration
	for begin := time.Now(); len(took) < selectCalls && time.Since(begin) < selectPatience; {
		start := time.Now()
		if hits, err = call(); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return float64(took[len(took)/2].Nanoseconds()) / 1e3, hits, nil
}
