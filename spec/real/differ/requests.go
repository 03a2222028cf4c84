package main

import (
	"fmt"
	"math/rand"
	"net/url"
	"strings"
)

// generator makes the requests of one seed. It never sees an answer: the sequence depends on the seed alone.
type generator struct {
	random *rand.Rand
	kinds  []*kind
	total  int
}

const (
	perSeed   = 40
	kindsEach = 2 // few kinds and names, so that the requests of a seed meet
)

var shortNames = []string{"a", "b", "c"}

func (g *generator) one(in int) bool { return g.random.Intn(in) == 0 }

func (g *generator) kind() *kind {
	n := g.random.Intn(g.total)
	for _, k := range g.kinds {
		if n -= k.Weight; n < 0 {
			return k
		}
	}
	return g.kinds[0]
}

func generate(seed int64, kinds []*kind) []*request {
	g := &generator{random: rand.New(rand.NewSource(seed)), kinds: kinds}
	for _, k := range kinds {
		g.total += k.Weight
	}
	chosen := make([]*kind, kindsEach)
	for i := range chosen {
		chosen[i] = g.kind()
	}
	var requests []*request
	for _, k := range chosen {
		requests = append(requests, g.create(k, false), g.create(k, false))
	}
	for len(requests) < perSeed {
		requests = append(requests, g.any(pick(g.random, chosen)))
	}
	return requests
}

// any makes one request; the weights are about those of clients, with mistakes more frequent than in life.
func (g *generator) any(k *kind) *request {
	n := g.random.Intn(100)
	switch {
	case n < 16:
		return g.create(k, true)
	case n < 30:
		return g.update(k)
	case n < 56:
		return g.patch(k)
	case n < 65:
		return g.delete(k)
	case n < 69:
		return g.deleteCollection(k)
	case n < 76:
		return g.get(k)
	case n < 84:
		return g.list(k)
	case n < 88:
		return g.watch(k)
	case n < 95:
		return g.subresource(k)
	default:
		return g.odd(k)
	}
}

// ask begins a request of an object, or of the collection if the name is empty.
func (g *generator) ask(method, verb string, k *kind, short string) *request {
	r := &request{Method: method, Verb: verb, Kind: k.Kind, Path: k.collection(), Headers: map[string]string{}}
	if short != "" {
		r.Path += "/" + k.name(short)
		r.Object = r.Path
	}
	return r
}

func (r *request) param(key, value string) {
	if r.Query != "" {
		r.Query += "&"
	}
	escaped := url.QueryEscape(value)
	if strings.HasPrefix(value, "{{") {
		escaped = value
	}
	r.Query += key + "=" + escaped
}

// tagged adds a parameter, and says so.
func (r *request) tagged(key, value string) {
	r.param(key, value)
	r.tag("%s=%s", key, value)
}

// json gives the request a body.
func (r *request) json(body string) {
	r.Headers["Content-Type"] = "application/json"
	r.Body = body
}

func (r *request) tag(format string, args ...any) {
	if r.Tag != "" {
		r.Tag += ", "
	}
	r.Tag += fmt.Sprintf(format, args...)
}

// writing adds what any write may carry.
func (g *generator) writing(r *request, k *kind, unknownField bool) {
	if k.OnlyDry || g.one(12) {
		r.param("dryRun", "All")
	} else if g.one(60) {
		r.tagged("dryRun", g.pick("all", "", "None", "All,All"))
	}
	if unknownField || g.one(8) {
		value := g.pick("Strict", "Warn", "Ignore")
		if g.one(30) {
			value = "Other"
		}
		r.param("fieldValidation", value)
		if unknownField {
			r.tag("%s", value)
		} else if value == "Other" {
			r.tag("fieldValidation=Other")
		}
	}
	if g.one(12) {
		r.param("fieldManager", g.pick("manager", "other manager"))
	} else if g.one(100) {
		r.param("fieldManager", g.pick(strings.Repeat("m", 129), "m\u0001"))
		r.tag("bad fieldManager")
	}
	if g.one(25) {
		r.Headers["Accept"] = g.pick(
			"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
			"application/json;as=Table;g=meta.k8s.io;v=v1,application/json")
		r.tag("%s", view(r.Headers["Accept"]))
	}
}

func view(accept string) string {
	if strings.Contains(accept, "Table") {
		return "as Table"
	}
	return "as PartialObjectMetadata"
}

func (g *generator) create(k *kind, mistakes bool) *request {
	short := pick(g.random, shortNames)
	r := g.ask("POST", "create", k, "")
	r.Object = r.Path + "/" + k.name(short)
	body := g.object(k, k.name(short))
	switch {
	case mistakes && g.one(20):
		metadata := submap(body, "metadata")
		delete(metadata, "name")
		metadata["generateName"] = g.pick("gen-", "gen-", "gen-", "Bad_", strings.Repeat("g", 250), "")
		r.Object = r.Path + "/{{made 0}}"
		r.tag("generateName")
	case mistakes && g.one(40):
		delete(submap(body, "metadata"), "name")
		r.tag("no name")
	case mistakes && g.one(40) && !k.Cluster:
		r.Path = strings.Replace(r.Path, "{{ns}}", "{{ns}}-none", 1)
		r.tag("no such namespace")
	case mistakes && g.one(60):
		submap(submap(body, "metadata"), "annotations")["big"] = "PAD"
		r.Repeat = pick(g.random, []int{200 << 10, 263 << 10, 1700 << 10, 4 << 20})
		r.tag("%d KiB", r.Repeat>>10)
	case mistakes && g.one(60):
		delete(body, g.pick("kind", "apiVersion"))
		r.tag("without kind or version")
	case mistakes && !g.one(3):
		r.Body, r.Tag = g.spoil(k, body)
		body = nil
	}
	if body != nil {
		r.Body = text(body)
	}
	r.Headers["Content-Type"] = "application/json"
	g.writing(r, k, strings.Contains(r.Tag, "unknown field"))
	if mistakes && g.one(40) {
		r.Headers["Content-Type"] = g.pick("text/plain", "application/xml", "", "application/json; charset=utf-8", "application/cbor", "application/yaml")
		r.tag("Content-Type %q", r.Headers["Content-Type"])
	}
	return r
}

func (g *generator) update(k *kind) *request {
	short := pick(g.random, shortNames)
	r := g.ask("PUT", "update", k, short)
	body := g.object(k, k.name(short))
	metadata := submap(body, "metadata")
	if g.one(2) && len(k.More) > 0 {
		merge(body, pick(g.random, k.More))
	}
	switch g.random.Intn(12) {
	case 0, 1, 2, 3, 4:
		metadata["resourceVersion"] = "{{rv " + r.Object + "}}"
	case 5:
		metadata["resourceVersion"] = "{{oldrv " + r.Object + "}}"
		r.tag("old version")
	case 6:
		metadata["resourceVersion"] = g.pick("0", "abc", "-1", "1", "")
		r.tag("version %q", metadata["resourceVersion"])
	case 7:
		metadata["uid"] = g.pick("{{uid "+r.Object+"}}", "33333333-3333-4333-8333-333333333333", "odd")
		if !strings.HasPrefix(metadata["uid"].(string), "{{") {
			r.tag("wrong uid")
		}
	}
	r.json(text(body))
	if g.one(3) {
		var mistake string
		r.Body, mistake = g.spoil(k, body)
		r.tag("%s", mistake)
	}
	g.writing(r, k, strings.Contains(r.Tag, "unknown field"))
	return r
}

func (g *generator) get(k *kind) *request {
	r := g.ask("GET", "get", k, pick(g.random, append(shortNames, "missing")))
	if strings.HasSuffix(r.Path, "missing") {
		r.tag("missing")
	}
	g.accept(r)
	if g.one(10) {
		version := g.pick("0", "{{rv "+r.Object+"}}", "abc", "99999999999999999")
		r.param("resourceVersion", version)
		r.tag("version %.3s", version)
	}
	return r
}

func (g *generator) accept(r *request) {
	if g.one(3) {
		r.Headers["Accept"] = g.pick(
			"application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
			"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
			"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
			"application/json;as=Table;v=v1beta1;g=meta.k8s.io", "*/*", "", "text/html", "application/json;as=Odd;g=a;v=b",
			"application/yaml", "application/cbor", "text/*", "application/*;q=0.5")
		r.tag("Accept %s", r.Headers["Accept"])
		if strings.Contains(r.Tag, "Table") && g.one(3) {
			r.tagged("includeObject", g.pick("Object", "None", "Metadata", "Odd"))
		}
	}
}

var labelSelectors = []string{"app=a", "app in (a,b)", "app!=a", "!app", "app", "app notin (b)", "app=a,app!=b"}
var badSelectors = []string{"app in", "a b", "=", "app=(", "app in (a", "-a=b", "app=-a", "a,,b"}

func (g *generator) select_(r *request, k *kind) {
	switch g.random.Intn(8) {
	case 0, 1:
		r.param("labelSelector", pick(g.random, labelSelectors))
		r.tag("labelSelector")
	case 2:
		selector := pick(g.random, badSelectors)
		r.param("labelSelector", selector)
		r.tag("labelSelector %s", selector)
	case 3:
		r.param("fieldSelector", "metadata.name="+k.name("a"))
		r.tag("fieldSelector")
	case 4:
		selector := g.pick("metadata.name!=x", "spec.odd=1", "status.phase=Running", "spec.nodeName=", "odd", "a=b=c", "spec.colour=red",
			"type=Opaque", "metadata.namespace=default", "spec.colour!=red,metadata.name=a", "spec.unschedulable=true", "reason=Seen")
		r.param("fieldSelector", selector)
		r.tag("fieldSelector %s", selector)
	}
}

func (g *generator) list(k *kind) *request {
	r := g.ask("GET", "list", k, "")
	if !k.Cluster && g.one(20) {
		r.Path = k.Path + "/" + k.Plural
		r.tag("all namespaces")
	}
	g.select_(r, k)
	g.accept(r)
	own := strings.Contains(r.Path, "{{ns}}")
	switch g.random.Intn(10) {
	case 0, 1:
		if own {
			r.param("limit", g.pick("1", "2", "0", "500"))
			r.tag("limit")
		}
	case 2:
		if own {
			r.param("limit", "1")
			r.param("continue", "{{continue}}")
			r.tag("continue")
		}
	case 3:
		key, value := g.pick("limit", "continue", "resourceVersion", "resourceVersionMatch", "timeoutSeconds", "watch"),
			g.pick("abc", "-1", "1.5", "99999999999999999999", "Exact")
		r.tagged(key, value)
		if key == "watch" { // any text but "0" and "false" asks for one
			r.Watch = true
			r.param("timeoutSeconds", "60") // more than a sequence takes: both are closed at its end
		}
	case 4:
		version := g.pick("0", "{{listrv}}")
		match := g.pick("", "Exact", "NotOlderThan", "Odd")
		r.param("resourceVersion", version)
		if match != "" {
			r.param("resourceVersionMatch", match)
		}
		r.tag("version %.3s %s", version, match)
	}
	return r
}

func (g *generator) watch(k *kind) *request {
	r := g.ask("GET", "watch", k, "")
	r.Watch = true
	r.param("watch", g.pick("true", "true", "1"))
	switch g.random.Intn(6) {
	case 0:
		r.param("resourceVersion", "{{listrv}}")
		r.tag("from a version")
	case 1:
		r.param("sendInitialEvents", g.pick("true", "true", "false"))
		r.tag("initial events")
		if !g.one(4) {
			r.param("resourceVersionMatch", "NotOlderThan")
		}
		if !g.one(4) {
			r.param("allowWatchBookmarks", "true")
		}
	case 2:
		r.param("resourceVersion", g.pick("0", "abc", "1"))
		r.tag("from %s", r.Query)
	}
	g.select_(r, k)
	if g.one(4) {
		g.accept(r)
	}
	return r
}

// odd asks for what no server serves, or not in this way.
func (g *generator) odd(k *kind) *request {
	named := g.ask("GET", "odd", k, pick(g.random, shortNames))
	collection := g.ask("GET", "odd", k, "")
	body := text(g.object(k, k.name("a")))
	r := pick(g.random, []*request{named, collection})
	switch g.random.Intn(8) {
	case 0, 1:
		r = collection
		r.Path = g.pick("/nothing", "/api/v2", "/api/v1/nothings", "/apis/nothing.example.com/v1/things", "/apis/apps/v9/deployments",
			"/apis/apps/v1/nothings/a", "/api/v1/namespaces/{{ns}}/nothings", "/api/v1/namespaces/{{ns}}/pods/a/nothing", "/apis/nothing.example.com",
			"/api/v1/pods/a", "/api//v1", "/api/v1/", k.Path+"/", k.Path+"/namespaces/{{ns}}/"+k.Plural+"/a/b/c",
			k.collection()+"/", k.collection()+"/"+k.name("a")+"/", "/api/v1/namespaces/{{ns}}/configmaps/a/status", "/apis/differ.example.com/v2/widgets",
			"/healthz", "/livez", "/readyz", "/version/x", "/metrics/x", "/api/v1/watch", "/apis/differ.example.com/v1/namespaces/{{ns}}/widgets/a/nothing")
		r.Method = g.pick("GET", "GET", "POST", "PUT", "DELETE", "PATCH")
		if r.Method == "DELETE" && k.Cluster && r.Path == k.collection()+"/" {
			r.param("dryRun", "All") // it is the collection, of all sequences that run at once
		}
		r.tag("%s %s", r.Method, strings.ReplaceAll(r.Path, k.Path, "K"))
		if strings.Contains(r.Path, k.Plural) {
			r.Tag = strings.ReplaceAll(r.Tag, k.Plural, "PLURAL")
		}
	case 2, 3:
		r.Method = g.pick("POST", "PUT", "PATCH", "OPTIONS", "HEAD", "FOO", "TRACE", "CONNECTX")
		if r == collection && r.Method == "POST" {
			r.Method = "PUT"
		}
		place := "object"
		if r == collection {
			place = "collection"
		}
		r.tag("%s of %s", r.Method, place)
	case 4:
		r = named
		r.Method, r.Path = "PATCH", strings.Replace(r.Path, "{{ns}}", "{{ns}}", 1)
		r.Headers["Content-Type"] = g.pick("application/json", "", "text/plain", "application/strategic-merge-patch+yaml",
			"application/apply-patch+cbor", "application/merge-patch+json; charset=utf-8")
		r.tag("patch as %q", r.Headers["Content-Type"])
		r.Body = "{}"
		return r
	case 5:
		r = collection
		r.Method = "POST"
		r.Path = k.Path + "/" + k.Plural
		if k.Cluster {
			r.Object = r.Path + "/" + k.name("a")
		}
		r.json(body)
		r.param("dryRun", "All")
		r.tag("create without a namespace")
		return r
	case 6:
		r = named
		r.Path = strings.TrimSuffix(r.Path, "/"+k.name("a")) + "/" + g.pick("UP%20PER", "..", ".", "%2e%2e", strings.Repeat("n", 300), "a%2Fb", "a%00b")
		r.Object = ""
		r.tag("odd name in path")
	default:
		r = collection
		r.Path = strings.Replace(r.Path, "{{ns}}", g.pick("{{ns}}-none", "UPPER", "a_b", "default"), 1)
		r.tag("list in another namespace")
		if k.Cluster {
			r.Path += "/missing"
		}
	}
	if r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		r.json(body)
		r.param("dryRun", "All")
	}
	return r
}
