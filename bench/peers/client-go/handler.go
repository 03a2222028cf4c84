package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// handler counts what it is told and answers markers. client-go calls it from one goroutine; the main goroutine reads
// `objects` only.
type handler struct {
	read    func(object any) fields
	objects atomic.Int64
	updates int
	late    []int64 // per update, in nanoseconds, from the server's write to here
	last    fields
}

func (h *handler) OnAdd(object any, isInInitialList bool) {
	h.objects.Add(1)
	h.last = h.read(object)
	if !isInInitialList && h.last.namespace == "default" && strings.HasPrefix(h.last.name, "marker-") {
		h.answer(h.last.name)
	}
}

func (h *handler) OnUpdate(_, object any) {
	now := time.Now().UnixNano()
	h.last = h.read(object)
	h.updates++
	if sent, err := strconv.ParseInt(h.last.sent, 10, 64); err == nil && sent != 0 {
		h.late = append(h.late, now-sent)
	}
}

func (h *handler) OnDelete(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	h.objects.Add(-1)
	h.last = h.read(object)
}

// answer prints what came since the last marker and begins anew.
func (h *handler) answer(marker string) {
	line := map[string]any{
		"event": "marker", "name": marker, "objects": h.objects.Load(), "updates": h.updates,
		"latency_us": percentiles(h.late),
	}
	h.updates, h.late = 0, nil
	if strings.HasPrefix(marker, "marker-trim-") {
		debug.FreeOSMemory()
	}
	if err := printLine(line); err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(1)
	}
}

// percentiles gives p50, p99, p99.9 and the maximum in microseconds by the nearest rank, or nil when there are none.
func percentiles(late []int64) any {
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	out := make([]float64, 0, 4)
	for _, share := range []float64{0.5, 0.99, 0.999, 1} {
		rank := int(math.Ceil(share * float64(len(late))))
		out = append(out, float64(late[rank-1])/1e3)
	}
	return out
}
