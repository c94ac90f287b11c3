package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// area is what a commit's subject begins with.
var area = regexp.MustCompile(`^([\w./ -]{1,24}): (.+)$`)

// notes writes the subjects of the commits since the tag before. A final version's notes begin at the final version before it.
func (r *release) notes() error {
	describe := []string{"describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"}
	if !strings.Contains(r.version, "-") {
		describe = append(describe, "--exclude", "*-*")
	}
	tag, err := output("git", append(describe, "HEAD^")...)
	if err != nil {
		return r.write("notes.md", []byte("The first release. CHANGELOG.md says what replab does.\n"))
	}
	before := strings.TrimSpace(string(tag))
	subjects, err := output("git", "log", "--no-merges", "--reverse", "--format=%s", before+"..HEAD")
	if err != nil {
		return err
	}
	return r.write("notes.md", []byte("Changes since "+before+", by area.\n"+byArea(strings.Split(strings.TrimSpace(string(subjects)), "\n"))))
}

// byArea lists subjects below a heading for each area.
func byArea(subjects []string) string {
	areas := map[string][]string{}
	for _, subject := range subjects {
		name, change := "other", subject
		if found := area.FindStringSubmatch(subject); found != nil {
			name, change = strings.ToLower(found[1]), found[2]
		}
		areas[name] = append(areas[name], change)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(areas)) {
		fmt.Fprintf(&text, "\n## %s\n\n- %s\n", name, strings.Join(areas[name], "\n- "))
	}
	return text.String()
}
