// Command differ sends the same random requests to two API servers, and tells where their answers differ: `kubelua sim`
// beside the real kube-apiserver. The other files:
// requests.go, writes.go and bodies.go make requests, normal.go lists what must differ, play.go and compare.go compare,
// shrink.go finds the shortest sequence, report.go counts by category, known has what may differ.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

type options struct {
	first, last    int64
	kinds, replay  string
	real, sim, out string
	self           bool
	spoil          int
	top, shrink    int
	workers        int
	serverFlags    []string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "differ:", err)
		os.Exit(1)
	}
}

func parse() (*options, error) {
	o := &options{}
	seeds := flag.String("seeds", "", "seeds A-B (default: 100 new ones, from the clock)")
	flag.StringVar(&o.kinds, "kinds", "", "only these kinds, separated by commas")
	flag.StringVar(&o.replay, "replay", "", "send the sequence of this file instead, and show each answer that differs")
	flag.StringVar(&o.real, "real", "build/real/apiserver", "the real API server's program")
	flag.StringVar(&o.sim, "sim", "build/release/kubelua", "kubelua's program")
	flag.StringVar(&o.out, "out", "build/differ", "folder for what is found")
	flag.BoolVar(&o.self, "self", false, "compare two real servers: there must be no difference")
	flag.IntVar(&o.spoil, "spoil", 0, "compare two real servers, and spoil an answer in each of that many sequences: each must be found")
	flag.IntVar(&o.top, "top", 20, "categories to print; all are in the folder")
	flag.IntVar(&o.shrink, "shrink", 3, "categories for which to find the shortest sequence")
	flag.IntVar(&o.workers, "workers", 3, "sequences at once")
	flag.Parse()
	o.serverFlags = flag.Args()
	o.first = time.Now().Unix() % 1000000 * 1000
	o.last = o.first + 99
	if o.spoil > 0 {
		o.last = o.first + int64(o.spoil) - 1
	}
	if *seeds != "" {
		from, to, isRange := strings.Cut(*seeds, "-")
		if !isRange {
			to = from
		}
		var err, errToo error
		o.first, err = strconv.ParseInt(from, 10, 64)
		o.last, errToo = strconv.ParseInt(to, 10, 64)
		if err != nil || errToo != nil || o.last < o.first {
			return nil, fmt.Errorf("--seeds %s: expected A-B", *seeds)
		}
	}
	return o, os.MkdirAll(o.out, 0o755)
}

func (o *options) startBoth() (*pair, func(), error) {
	var stops []func()
	stop := func() {
		for _, one := range stops {
			one()
		}
	}
	p := &pair{}
	var wait sync.WaitGroup
	var err, errToo error
	wait.Add(1)
	go func() {
		defer wait.Done()
		p.expected, err = startReal("real", o.real, o.serverFlags)
	}()
	if o.self || o.spoil > 0 {
		p.found, errToo = startReal("real too", o.real, o.serverFlags)
	} else {
		p.found, errToo = startSim(o.sim)
	}
	wait.Wait()
	for _, s := range []*server{p.expected, p.found} {
		if s != nil {
			stops = append(stops, s.stop)
			if err == nil && errToo == nil {
				err = s.define()
			}
		}
	}
	if err == nil {
		err = errToo
	}
	return p, stop, err
}

func run() error {
	o, err := parse()
	if err != nil {
		return err
	}
	kinds, err := readKinds(o.kinds)
	if err != nil {
		return err
	}
	list, err := readKnown()
	if err != nil {
		return err
	}
	p, stop, err := o.startBoth()
	defer stop()
	if err != nil {
		return err
	}
	switch {
	case o.replay != "":
		return o.again(p)
	case o.spoil > 0:
		return o.checkSpoilt(p, kinds)
	}
	return o.compareAll(p, kinds, newReport(list))
}

// each runs a function for each seed, some at once.
func (o *options) each(work func(seed int64) error) error {
	seeds, errs := make(chan int64), make(chan error, o.workers)
	var wait sync.WaitGroup
	for range o.workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for seed := range seeds {
				if err := work(seed); err != nil {
					select {
					case errs <- fmt.Errorf("seed %d: %w", seed, err):
					default:
					}
				}
			}
		}()
	}
	for seed := o.first; seed <= o.last && len(errs) == 0; seed++ {
		seeds <- seed
	}
	close(seeds)
	wait.Wait()
	close(errs)
	return <-errs
}

func (o *options) compareAll(p *pair, kinds []*kind, r *report) error {
	begin := time.Now()
	fmt.Printf("seeds %d-%d\n", o.first, o.last)
	err := o.each(func(seed int64) error {
		found, err := p.play(seed, generate(seed, kinds))
		if err == nil {
			r.add(found)
		}
		return err
	})
	if err != nil {
		return err
	}
	asked, agreed := p.requests.Load(), p.agreement()
	if err := r.print(filepath.Join(o.out, "categories"), o.top); err != nil {
		return err
	}
	if err := o.shrinkFirst(p, kinds, r); err != nil {
		return err
	}
	fmt.Printf("seeds %d-%d: %d requests in %.0f s; %d differences of %d categories, in %d of %d seeds\n", o.first, o.last,
		asked, time.Since(begin).Seconds(), r.total(), len(r.byName), r.seedsBad, r.seeds)
	if r.total() > 0 {
		fmt.Printf("by aspect: %s\n%s\n", r.aspects(), agreed)
		return fmt.Errorf("%d differences", r.total())
	}
	return nil
}

// shrinkFirst finds the shortest sequences for the most frequent categories.
func (o *options) shrinkFirst(p *pair, kinds []*kind, r *report) error {
	for n, name := range r.categories() {
		if n == o.shrink {
			break
		}
		first := r.byName[name][0]
		short, err := p.shrink(name, generate(first.seed, kinds)[:first.index+1])
		if err != nil {
			return err
		}
		file, err := save(o.out, n+1, short)
		if err != nil {
			return err
		}
		fmt.Printf("\n%s\n  differ --replay %s, of seed %d:\n", name, file, first.seed)
		for _, one := range short {
			fmt.Printf("    %s\n", one.short())
		}
		fmt.Printf("  - %s\n  + %s\n", first.expected, first.found)
	}
	return nil
}

func (o *options) again(p *pair) error {
	requests, err := load(o.replay)
	if err != nil {
		return err
	}
	found, err := p.play(0, requests)
	for _, d := range found {
		fmt.Printf("%s\n  %s\n  - %s\n  + %s\n", d.category(), requests[d.index].short(), d.expected, d.found)
	}
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d differences", len(found))
	}
	return err
}

// checkSpoilt is the check of the differ itself: one answer in each sequence is spoilt, and each must be found.
func (o *options) checkSpoilt(p *pair, kinds []*kind) error {
	missed, ways := 0, map[string]int{}
	for seed := o.first; seed <= o.last; seed++ {
		p.spoil = newSpoiler(seed)
		found, err := p.play(seed, generate(seed, kinds))
		if err != nil {
			return err
		}
		if p.spoil.done {
			ways[p.spoil.way]++
		}
		if (len(found) > 0) != p.spoil.done {
			missed++
			fmt.Printf("seed %d: %s: spoilt %v, found %d\n", seed, p.spoil.way, p.spoil.done, len(found))
		}
	}
	fmt.Printf("seeds %d-%d: spoilt answers, all but %d found: %v\n", o.first, o.last, missed, ways)
	if missed > 0 {
		return fmt.Errorf("%d spoilt answers were not found", missed)
	}
	return nil
}
