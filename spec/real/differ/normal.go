package main

import (
	"regexp"
	"sort"
	"strings"
	"time"
)

const normalNs = "ns0"

// rules is the list of what must differ between two servers that are both right.
var rules = []struct {
	what, reason string
	pattern      *regexp.Regexp
	to           string
}{
	{"uids", "each server invents its own",
		regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{"versions in messages", "servers count differently, and clients must not look into them",
		regexp.MustCompile(`((?:resource version|ResourceVersion in precondition|ResourceVersion in object meta|current): )"?\d+"?( \(\d+\))?`), "${1}RV"},
	{"versions in preconditions", "likewise",
		regexp.MustCompile(`(ResourceVersion in (?:the precondition|record) )\(\d+\)`), "${1}(RV)"},
	{"versions in the text of objects", "likewise; in YAML, and in the messages of patches that cannot be decoded",
		regexp.MustCompile(`(resourceVersion\\?"?: ?\\?")\d+`), "${1}RV"},
	{"objects in messages of patches", "the whole object in the order of its Go struct, which no client reads",
		regexp.MustCompile(`(^|patch: )Invalid value: "\{(?:\\.|[^"\\])*": `), `${1}Invalid value: "{OBJECT}": `},
	{"Go's internal types in messages", "a whole template, or the difference of two specs, as Go's structs have them; no client reads these",
		regexp.MustCompile(`(?:\n(?:@@|[ +-]).*)+\n?|(spec\.template(?:\.spec)?: Invalid value: |^Invalid value: )\{(?:[^"]|"(?:\\.|[^"\\])*")*\}(: field is immutable)`), "${1}${2}"},
	{"versions of definitions in messages", "likewise",
		regexp.MustCompile(`(Invalid value: )\[\{.*?\}\](: must (?:have exactly|contain unique))`), "${1}${2}"},
	{"continue tokens in YAML", "opaque",
		regexp.MustCompile(`(?m)^(  continue: )[\w-]+$`), "${1}CONTINUE"},
	{"addresses of services", "taken at random from the range",
		regexp.MustCompile(`\b10\.0\.\d+\.\d+\b`), "CLUSTERIP"},
	{"addresses of the server", "both listen where there is room",
		regexp.MustCompile(`127\.0\.0\.1:\d+`), "SERVER"},
	{"ages in tables", "the second may have turned between the two",
		regexp.MustCompile(`^\d+s$`), "AGE"},
	{"generated names in messages", "their ends are random",
		regexp.MustCompile(`\b(gen-|Bad_|g{50,})[a-z0-9]{5}\b`), "${1}MADE"},
	{"tokens", "signed with an own key",
		regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`), "TOKEN"},
	{"memory addresses", "Go prints pointers in some messages",
		regexp.MustCompile(`\b0x(?:c0|[0-9a-f])[0-9a-f]{6,}\b`), "POINTER"},
}

// instant is a time of now: the two servers are asked one after the other. Times that requests bring are years ago.
var instant = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)

func recent(text string) string {
	return instant.ReplaceAllStringFunc(text, func(found string) string {
		when, err := time.Parse(time.RFC3339Nano, found)
		if err != nil || time.Since(when).Abs() > 48*time.Hour {
			return found
		}
		return "TIME"
	})
}

// normalise replaces what must differ, by the rules above and, because it depends on the place:
// resourceVersions and continue tokens (opaque), generated names (random), the sequence's own namespace.
func (s *session) normalise(a *answer) {
	a.Body = s.normal(a.Body, "")
	a.Text = s.normalText(a.Text)
	for i, warning := range a.Warnings {
		a.Warnings[i] = s.normalText(warning)
	}
}

var (
	madeName = regexp.MustCompile(`\bMADE[A-Z]\b`)
	anyName  = regexp.MustCompile(`"(?:UID|[abc])"|^(?:UID|[abc])$`)
)

// firstMade leaves out which of the objects with generated names a deletion of a collection stopped at: the first by
// its name, which is random. A LimitRange without a name has its uid for it, which may come before any other.
func firstMade(r *request, a *answer) {
	if r.Verb != "deletecollection" || !isStatus(a.Body) {
		return
	}
	names, to := madeName, "MADE"
	if r.Kind == "LimitRange" {
		names, to = anyName, "FIRST"
	}
	for _, holder := range []any{a.Body, at(a.Body, "details")} {
		object, _ := holder.(map[string]any)
		for key, value := range object {
			if said, ok := value.(string); ok {
				object[key] = names.ReplaceAllString(said, to)
			}
		}
	}
}

func (s *session) normalText(text string) string {
	if text == "" {
		return text
	}
	for i, name := range s.made {
		text = strings.ReplaceAll(text, name, "MADE"+string(rune('A'+i%26)))
	}
	text = recent(strings.ReplaceAll(text, s.ns, normalNs))
	for _, rule := range rules {
		text = rule.pattern.ReplaceAllString(text, rule.to)
	}
	return text
}

func (s *session) normal(value any, key string) any {
	switch typed := value.(type) {
	case map[string]any:
		sortRandom(typed)
		sortErrors(typed)
		renamed := make(map[string]any, len(typed))
		for name, below := range typed {
			renamed[s.normalText(name)] = s.normal(below, name)
		}
		return renamed
	case []any:
		for i, below := range typed {
			typed[i] = s.normal(below, key)
		}
	case string:
		switch {
		case key == "resourceVersion" && typed != "":
			return "RV"
		case key == "continue" && typed != "":
			return "CONTINUE"
		}
		return s.normalText(typed)
	}
	return value
}

// sortRandom sorts what the real server gives in a random order: the conflicts of an apply, and in discovery the
// resources of definitions; and managers, whose order is that of seconds, of which one may have turned between the two.
func sortRandom(object map[string]any) {
	causes, _ := object["causes"].([]any)
	for _, cause := range causes {
		if textAt(cause, "reason") != "FieldManagerConflict" {
			causes = nil
		}
	}
	resources, _ := object["resources"].([]any)
	managers, _ := object["managedFields"].([]any)
	for _, list := range [][]any{causes, resources, managers} {
		sort.Slice(list, func(i, j int) bool { return text(list[i]) < text(list[j]) })
	}
}

// nextError is where an error ends and the next one begins. A path may have a key of a map with blanks; a value that is
// required comes without more.
var nextError = regexp.MustCompile(`, (?:[^ ,"\[\]]|\[[^\]]*\])+: (?:(?:Invalid|Unsupported|Required|Duplicate) value|Forbidden|` +
	`Too (?:many|few|long)|Not found|Internal error)(?:: |, |$)`)

// sortErrors sorts the errors of a custom object, in the message and the causes of a Status: a server goes over the
// properties of a schema as over any map of Go, in another order each time.
func sortErrors(status map[string]any) {
	said := textAt(status, "message")
	begin := strings.Index(said, " is invalid: [") + len(" is invalid: [")
	if !strings.HasSuffix(textAt(status["details"], "group"), ".example.com") || begin < len(" is invalid: [") || !strings.HasSuffix(said, "]") {
		return
	}
	var errors []string
	rest := said[begin : len(said)-1]
	for next := nextError.FindStringIndex(rest); next != nil; next = nextError.FindStringIndex(rest) {
		errors, rest = append(errors, rest[:next[0]]), rest[next[0]+2:]
	}
	errors = append(errors, rest)
	sort.Strings(errors)
	status["message"] = said[:begin] + strings.Join(errors, ", ") + "]"
	causes, _ := at(status["details"], "causes").([]any)
	sort.Slice(causes, func(i, j int) bool { return text(causes[i]) < text(causes[j]) })
}
