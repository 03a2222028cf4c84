// kinds serves the objects of one kind of `./dev bench kinds` to any client, and is a client of client-go for them:
//
//	kinds serve DIR NAME [empty]
//	kinds client URL NAME DIR
//
// DIR has the files of `kinds --texts DIR`. The server prints its URL; POST /storm sends the two next states of each
// object and a marker. The client prints a line when its cache is complete, and one with the number of updates at the
// marker. ./dev prove kinds runs both.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a line of DIR/kinds.
type kind struct {
	name     string
	resource schema.GroupVersionResource
	kind     string
	count    int
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kinds:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case (len(args) == 3 || len(args) == 4) && args[0] == "serve":
		k, err := findKind(args[1], args[2])
		if err != nil {
			return err
		}
		return serve(k, args[1], len(args) == 4)
	case len(args) == 4 && args[0] == "client":
		k, err := findKind(args[3], args[2])
		if err != nil {
			return err
		}
		return client(k, args[1])
	}
	return errors.New("usage: kinds serve DIR NAME [empty], or kinds client URL NAME DIR")
}

func findKind(dir, name string) (*kind, error) {
	file, err := os.Open(filepath.Join(dir, "kinds"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 5 || words[0] != name {
			continue
		}
		version, err := schema.ParseGroupVersion(words[1])
		if err != nil {
			return nil, err
		}
		count, err := strconv.Atoi(words[4])
		return &kind{name, version.WithResource(words[2]), words[3], count}, err
	}
	return nil, fmt.Errorf("%s has no kind %q", dir, name)
}
