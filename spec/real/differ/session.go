package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// request is a template: {{ns}}, {{rv PATH}}, {{oldrv PATH}}, {{uid PATH}}, {{continue}}, {{made N}} and {{listrv}}
// stand for what the server that is asked has answered before. Thus both servers get the same requests, and a sequence
// can be sent again.
type request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Query   string            `json:"query,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Repeat  int               `json:"repeat,omitempty"` // for bodies that are too long to be printed: PAD is so many x
	Verb    string            `json:"verb"`
	Kind    string            `json:"kind"`
	Tag     string            `json:"tag"` // the mistake in it, or what is special
	Object  string            `json:"object,omitempty"`
	Watch   bool              `json:"watch,omitempty"`
}

// answer is what a server said, decoded and normalised.
type answer struct {
	Code     int
	Type     string
	Warnings []string
	Retry    string
	Body     any    // decoded JSON
	Text     string // anything else
	Events   []any
}

type seen struct {
	first, last, uid string
}

// session is a server in the course of one sequence of requests.
type session struct {
	server  *server
	ns      string
	objects map[string]*seen
	made    []string // names that the server generated
	next    string   // the last continue token
	listRV  string
	watches []*watch
}

func newSession(s *server, ns string) *session {
	return &session{server: s, ns: ns, objects: map[string]*seen{}}
}

var reference = regexp.MustCompile(`\{\{(\w+)(?: ((?:[^{}]|\{\{ns\}\})*))?\}\}`)

func (s *session) fill(text string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		object := s.objects[parts[2]]
		switch parts[1] {
		case "ns":
			return s.ns
		case "continue":
			return s.next
		case "listrv":
			return s.listRV
		case "made":
			n, _ := strconv.Atoi(parts[2])
			if n < len(s.made) {
				return s.made[n]
			}
			return "none-made"
		}
		if object == nil {
			return map[string]string{"rv": "1", "oldrv": "1", "uid": "00000000-0000-4000-8000-000000000000"}[parts[1]]
		}
		return map[string]string{"rv": object.last, "oldrv": object.first, "uid": object.uid}[parts[1]]
	})
}

const madeLen = 5 // of what a server adds to generateName

const userAgent = "differ/1.0" // names the manager in managedFields

func (s *session) open(r *request) (*http.Response, error) {
	url := s.server.url + s.fill(r.Path)
	if r.Query != "" {
		url += "?" + s.fill(r.Query)
	}
	body := strings.ReplaceAll(s.fill(r.Body), "PAD", strings.Repeat("x", r.Repeat))
	var reader io.Reader
	if body != "" {
		reader = bytes.NewReader([]byte(body))
	}
	call, err := http.NewRequest(r.Method, url, reader)
	if err != nil {
		return nil, err
	}
	call.Header.Set("User-Agent", userAgent)
	call.Header.Set("Accept", "application/json")
	for name, value := range r.Headers {
		if value == "" {
			call.Header[http.CanonicalHeaderKey(name)] = nil
		} else {
			call.Header.Set(name, value)
		}
	}
	// The real server may send the end of a body after its answer to a HEAD, which the next request would read.
	call.Close = r.Method == http.MethodHead
	return s.server.client.Do(call)
}

// settle waits until the cache of the real server has the object as it was last seen. An update begins with the one
// that the cache has; of an older one its warnings are told, too, although it then begins again with a newer one.
func (s *session) settle(r *request) error {
	object := s.objects[r.Object]
	if object == nil || (r.Method != http.MethodPatch && r.Method != http.MethodPut) {
		return nil
	}
	response, err := s.server.client.Get(s.server.url + s.fill(r.Object) + "?resourceVersion=" + object.last)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.Body.Close()
}

// send asks the server, and remembers of the answer what later requests refer to.
func (s *session) send(r *request) (*answer, error) {
	if r.Watch {
		return s.startWatch(r)
	}
	if err := s.settle(r); err != nil {
		return s.broken(err)
	}
	response, err := s.open(r)
	if err != nil {
		return s.broken(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return s.broken(err)
	}
	a := headOf(response)
	a.take(text)
	s.remember(r, a.Body)
	s.normalise(a)
	firstMade(r, a)
	return a, nil
}

// broken is no answer. The real server ends a connection so, too, when it panics.
func (s *session) broken(err error) (*answer, error) {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%s has ended: %w", s.server.name, err)
	}
	return &answer{Text: "no answer"}, nil
}

func headOf(response *http.Response) *answer {
	return &answer{Code: response.StatusCode, Type: response.Header.Get("Content-Type"),
		Warnings: response.Header.Values("Warning"), Retry: response.Header.Get("Retry-After")}
}

func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

func (a *answer) take(text []byte) {
	value, err := decode(text)
	if err != nil {
		a.Text = string(text)
		return
	}
	a.Body = value
}

// at looks into decoded JSON; nil if there is nothing.
func at(value any, path ...string) any {
	for _, key := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}

func textAt(value any, path ...string) string {
	text, _ := at(value, path...).(string)
	return text
}

func (s *session) remember(r *request, body any) {
	version, uid := textAt(body, "metadata", "resourceVersion"), textAt(body, "metadata", "uid")
	if token := textAt(body, "metadata", "continue"); token != "" {
		s.next = token
	}
	// A list that is not to be of an exact version is as old as the cache of its kind.
	fromCache := strings.Contains(r.Query, "resourceVersion=") && !strings.Contains(r.Query, "resourceVersionMatch=Exact")
	dryRun := strings.Contains(r.Query, "dryRun") // whose Table may have a version that the request invented
	if uid == "" && version != "" && !fromCache && !dryRun {
		s.listRV = version
	}
	// The simulator does not serve these two, and does not tell the pod's version there.
	unserved := strings.HasSuffix(r.Path, "/ephemeralcontainers") || strings.HasSuffix(r.Path, "/resize")
	if uid == "" || dryRun || unserved {
		return
	}
	name := textAt(body, "metadata", "name")
	prefix := textAt(body, "metadata", "generateName")
	if r.Verb == "create" && len(name) > madeLen && strings.HasPrefix(prefix, name[:len(name)-madeLen]) {
		s.made = append(s.made, name)
	}
	object := s.objects[r.Object]
	if object == nil {
		object = &seen{first: version}
		s.objects[r.Object] = object
	}
	object.last, object.uid = version, uid
}

// start creates the sequence's namespace. The real server's admission may need a moment to know it.
func (s *session) start() error {
	body := fmt.Sprintf(`{"metadata":{"name":"%s"}}`, s.ns)
	for try := 0; ; try++ {
		response, err := s.server.client.Post(s.server.url+"/api/v1/namespaces", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusCreated || response.StatusCode == http.StatusConflict {
			return nil
		}
		if try == 20 {
			return fmt.Errorf("%s: the namespace %s: %s", s.server.name, s.ns, response.Status)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
