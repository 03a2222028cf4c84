package main

import (
	"strconv"
	"strings"
)

func (g *generator) patch(k *kind) *request {
	short := pick(g.random, shortNames)
	r := g.ask("PATCH", "patch", k, short)
	unknown := false
	switch n := g.random.Intn(10); {
	case n < 3:
		unknown = g.mergePatch(r, k, "application/merge-patch+json")
	case n < 5:
		g.jsonPatch(r, k)
	case n < 7:
		unknown = g.mergePatch(r, k, "application/strategic-merge-patch+json")
		if !unknown && g.one(3) {
			g.directive(r, k)
		}
	default:
		unknown = g.apply(r, k, short)
	}
	g.writing(r, k, unknown)
	if !k.Custom && !k.Cluster && g.one(40) {
		r.Path = strings.TrimSuffix(r.Path, "/"+k.name(short)) + "/missing"
		r.Object = ""
		r.tag("missing")
	}
	return r
}

// mergePatch is of either type whose bodies look like objects. It tells whether there is an unknown field.
func (g *generator) mergePatch(r *request, k *kind, contentType string) (unknown bool) {
	r.Verb = strings.TrimSuffix(strings.TrimPrefix(contentType, "application/"), "+json")
	r.Headers["Content-Type"] = contentType
	body := map[string]any{}
	switch n := g.random.Intn(12); {
	case n < 4 && len(k.More) > 0:
		merge2(body, pick(g.random, k.More))
	case n < 5 && len(k.Wrong) > 0:
		merge2(body, pick(g.random, k.Wrong))
		r.tag("refused by its validation")
	case n < 8:
		metadata := submap(body, "metadata")
		switch g.random.Intn(5) {
		case 0:
			submap(metadata, "labels")["app"] = pick(g.random, []any{"a", "b", nil})
		case 1:
			submap(metadata, "annotations")["note"] = pick(g.random, []any{"y", nil})
		case 2:
			metadata["finalizers"] = pick(g.random, []any{nil, []any{}, []any{"example.com/hold"}, []any{"example.com/two", "example.com/two"}})
		case 3:
			version := g.pick("{{rv "+r.Object+"}}", "{{oldrv "+r.Object+"}}", "0", "abc")
			metadata["resourceVersion"] = version
			r.tag("version %.4s", version)
		default:
			r.tag("%s", g.spoilMetadata(metadata))
		}
	case n < 9:
		merge2(body, k.Base)
		if len(body) == 0 {
			submap(submap(body, "metadata"), "labels")["app"] = "a"
		}
		p := pick(g.random, places(body, nil))
		p.set(pick(g.random, wrongValues))
		r.tag("wrong type")
	case n < 10:
		submap(body, "spec")["unknownField"] = 1.0
		r.tag("unknown field")
		unknown = true
	case n < 11:
		body[g.pick("kind", "apiVersion")] = pick(g.random, []any{"Other", "v9", nil, k.Kind})
		r.tag("kind or version")
	default:
		r.Body = g.pick("{}", "[]", "null", "1", "{", `"a"`, "", `{"metadata":null}`, `{"spec":null}`, `{"metadata":{"name":"other"}}`)
		r.tag("patch %s", r.Body)
		return false
	}
	r.Body = text(body)
	return unknown
}

// merge2 keeps nulls, which mean a removal in a patch.
func merge2(into, from map[string]any) {
	for key, value := range from {
		into[key] = clone(value)
	}
}

// directive is what only strategic merge patches have.
func (g *generator) directive(r *request, k *kind) {
	bodies := []string{
		`{"metadata":{"labels":{"$patch":"replace","only":"this"}}}`,
		`{"metadata":{"annotations":{"$patch":"delete"}}}`,
		`{"metadata":{"labels":{"$retainKeys":["app"],"app":"a"}}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`,
		`{"metadata":{"$setElementOrder/finalizers":["example.com/b","example.com/a"],"finalizers":["example.com/a","example.com/b"]}}`,
		`{"metadata":{"finalizers":["example.com/more"]}}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"44444444-4444-4444-8444-444444444444"}]}}`,
		`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"11111111-1111-4111-8111-111111111111"}]}}`,
		`{"$patch":"replace","metadata":{"name":"a"}}`,
		`{"$patch":"odd"}`,
		`{"metadata":{"labels":{"$patch":"merge","x":"y"}}}`,
	}
	pods := []string{
		`{"containers":[{"name":"side","image":"side:1"}]}`,
		`{"containers":[{"name":"main","image":"nginx:1.29"}]}`,
		`{"containers":[{"name":"main","$patch":"delete"}]}`,
		`{"containers":[{"$patch":"replace"},{"name":"only","image":"only:1"}]}`,
		`{"$setElementOrder/containers":[{"name":"side"},{"name":"main"}],"containers":[{"name":"side","image":"side:2"}]}`,
		`{"containers":[{"image":"nameless"}]}`,
		`{"containers":[{"name":"main","env":[{"name":"A","value":"2"},{"name":"B","value":"3"}]}]}`,
		`{"containers":[{"name":"main","ports":[{"containerPort":81}]}]}`,
		`{"tolerations":[{"key":"b","operator":"Exists"}]}`,
		`{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}`,
		`{"nodeSelector":{"$patch":"replace","zone":"a"}}`,
	}
	switch {
	case k.Kind == "Pod" && g.one(2):
		r.Body = `{"spec":` + pick(g.random, pods) + `}`
	case strings.Contains(r.Path, "/apps/v1/") && g.one(2):
		r.Body = `{"spec":{"template":{"spec":` + pick(g.random, pods) + `}}}`
	case k.Kind == "Service" && g.one(2):
		r.Body = `{"spec":` + g.pick(`{"ports":[{"port":443,"name":"tls"}]}`, `{"ports":[{"port":80,"$patch":"delete"}]}`,
			`{"selector":{"$patch":"replace","x":"y"}}`) + `}`
	default:
		r.Body = pick(g.random, bodies)
	}
	r.Tag = "directive " + strings.TrimSuffix(strings.TrimPrefix(r.Body, "{"), "}")
}

func (g *generator) jsonPatch(r *request, k *kind) {
	r.Verb = "json-patch"
	r.Headers["Content-Type"] = "application/json-patch+json"
	if g.one(10) {
		r.Body = g.pick("{}", "null", "[]", "[1]", `[{"op":"odd","path":"/a"}]`, `[{"op":"add"}]`, `[{"op":"add","path":"/spec"}]`,
			`[{"op":"add","path":"metadata","value":1}]`, `[{"op":"remove","path":""}]`, `[{"op":"replace","path":"","value":{}}]`, "{", `[{"path":"/a","value":1}]`)
		r.tag("patch %s", r.Body)
		return
	}
	all := places(k.Base, nil)
	ops := []any{}
	for range 1 + g.random.Intn(2) {
		path, value := "/metadata/labels/app", any("b")
		if len(all) > 0 && g.one(2) {
			p := pick(g.random, all)
			path, value = "/"+strings.Join(p.path, "/"), p.get()
		}
		op := map[string]any{"op": g.pick("add", "replace", "remove", "test", "copy", "move"), "path": path}
		if g.one(4) {
			op["path"] = g.pick("/metadata/labels", "/metadata/annotations/x~1y", "/metadata/labels/missing", "/spec/missing/deeper",
				"/metadata/finalizers/-", "/metadata/finalizers/0", "/metadata/finalizers/9", "/metadata/name", "/missing", "/metadata/labels/app")
		}
		switch op["op"] {
		case "add", "replace", "test":
			op["value"] = value
			if g.one(4) {
				op["value"] = pick(g.random, wrongValues)
			}
		case "copy", "move":
			op["from"] = g.pick("/metadata/labels/app", "/metadata/name", "/missing", path)
		}
		ops = append(ops, op)
	}
	r.tag("%s", ops[len(ops)-1].(map[string]any)["op"])
	r.Body = text(ops)
}

func (g *generator) apply(r *request, k *kind, short string) (unknown bool) {
	r.Verb = "apply"
	r.Headers["Content-Type"] = "application/apply-patch+yaml"
	if !g.one(20) {
		r.param("fieldManager", g.pick("first", "second"))
	} else {
		r.tag("no manager")
	}
	if g.one(3) {
		r.param("force", g.pick("true", "true", "false"))
	}
	body := map[string]any{"apiVersion": k.apiVersion(), "kind": k.Kind, "metadata": map[string]any{"name": k.name(short)}}
	if g.one(2) {
		merge2(body, k.Base)
	}
	if len(k.More) > 0 && g.one(2) {
		merge(body, pick(g.random, k.More))
	}
	if g.one(3) {
		submap(submap(body, "metadata"), "labels")["app"] = g.pick("a", "b")
	}
	if g.one(4) {
		var mistake string
		r.Body, mistake = g.spoil(k, body)
		r.tag("%s", mistake)
		return mistake == "unknown field"
	}
	r.Body = text(body)
	return false
}

func (g *generator) deleteOptions(r *request, k *kind) {
	options := map[string]any{}
	object := r.Object
	if object == "" {
		object = r.Path + "/" + k.name("a")
	}
	choice := g.random.Intn(12)
	// A LimitRange without a name has its uid for it: it may be the first or the last of a collection, which ends at the
	// first object that a precondition is not true of.
	if k.Kind == "LimitRange" && r.Verb == "deletecollection" && (choice == 2 || choice == 3) {
		choice = 7
	}
	switch choice {
	case 0, 1:
		policy := g.pick("Foreground", "Orphan", "Background", "Odd")
		if g.one(2) {
			r.param("propagationPolicy", policy)
		} else {
			options["propagationPolicy"] = policy
		}
		r.tag("%s", policy)
	case 2:
		options["preconditions"] = map[string]any{"uid": g.pick("{{uid "+object+"}}", "33333333-3333-4333-8333-333333333333")}
		r.tag("precondition uid")
	case 3:
		options["preconditions"] = map[string]any{"resourceVersion": g.pick("{{rv "+object+"}}", "{{oldrv "+object+"}}", "1")}
		r.tag("precondition version")
	case 4:
		grace := pick(g.random, []int{0, 1, 30, -1})
		if g.one(2) {
			r.param("gracePeriodSeconds", strconv.Itoa(grace))
		} else {
			options["gracePeriodSeconds"] = float64(grace)
		}
		r.tag("grace %d", grace)
	case 5:
		options[g.pick("orphanDependents", "dryRun", "unknownField", "kind")] =
			pick(g.random, []any{true, []any{"All"}, "DeleteOptions", 1.0})
		r.tag("options %s", text(options))
	case 6:
		r.Body = g.pick("{", "[]", "null", "1", `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"DeleteOptions","apiVersion":"v1"}`)
		r.tag("options %s", r.Body)
	}
	if len(options) > 0 {
		r.Body = text(options)
	}
	if r.Body != "" {
		r.Headers["Content-Type"] = "application/json"
	}
	if k.OnlyDry || g.one(12) {
		r.param("dryRun", "All")
	}
}

func (g *generator) delete(k *kind) *request {
	r := g.ask("DELETE", "delete", k, pick(g.random, append(shortNames, "missing")))
	if strings.HasSuffix(r.Path, "missing") {
		r.tag("missing")
	}
	g.deleteOptions(r, k)
	return r
}

// deleteCollection keeps to the sequence's own namespace: of a cluster's kind it would delete others' objects.
func (g *generator) deleteCollection(k *kind) *request {
	if k.Cluster {
		return g.delete(k)
	}
	r := g.ask("DELETE", "deletecollection", k, "")
	g.select_(r, k)
	g.deleteOptions(r, k)
	return r
}

func (g *generator) subresource(k *kind) *request {
	short := pick(g.random, shortNames)
	names := append([]string{"nothing"}, k.Subresources...)
	if k.Status || g.one(4) {
		names = append(names, "status", "status", "status")
	}
	if k.Scale || g.one(8) {
		names = append(names, "scale", "scale", "scale")
	}
	name := pick(g.random, names)
	method := g.pick("GET", "PUT", "PATCH", "POST")
	if name == "binding" || name == "eviction" || name == "token" {
		method = "POST"
	}
	r := g.ask(method, name, k, short)
	r.Path += "/" + name
	r.tag("%s", method)
	if method == "GET" {
		return r
	}
	body := map[string]any{}
	switch name {
	case "status":
		if method == "PUT" {
			body = g.object(k, k.name(short))
		}
		body["status"] = pick(g.random, []any{map[string]any{"phase": "Ready"}, map[string]any{"replicas": 1.0}, nil, 1.0, map[string]any{"conditions": []any{}}})
		if len(k.Statuses) > 0 && !g.one(4) {
			body["status"] = clone(pick(g.random, k.Statuses))
		}
	case "scale":
		body = map[string]any{"spec": map[string]any{"replicas": pick(g.random, []any{2.0, 0.0, -1.0, "two", nil})}}
		if method == "PUT" {
			body["metadata"] = map[string]any{"name": k.name(short)}
			body["apiVersion"], body["kind"] = "autoscaling/v1", "Scale"
		}
	case "eviction":
		body = map[string]any{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": k.name(short)}}
	case "binding":
		body = map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": k.name(short)},
			"target": map[string]any{"kind": "Node", "name": g.pick("node-1", "", "node-2")}}
	case "token":
		body = map[string]any{"spec": map[string]any{"audiences": []any{"x"}}}
	case "finalize":
		body = g.object(k, k.name(short))
	}
	r.Body = text(body)
	r.Headers["Content-Type"] = "application/json"
	if method == "PATCH" {
		r.Headers["Content-Type"] = "application/merge-patch+json"
	}
	if k.OnlyDry || name == "token" {
		r.param("dryRun", "All")
	}
	return r
}
