package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// object is a mapping of a workflow's YAML.
type object = map[string]any

// step of the job, or of an action of the repository that it uses.
type step struct {
	number string // 3, or 3.1 for the first one of the action that step 3 uses
	title  string
	left   string // why it is not played
	result string // Success or Failure; empty: it did not begin
	took   string
}

// platform stands for this machine in what act reads.
const platform = "this-machine"

// cut removes all jobs but the chosen one. Jobs it needs become stubs with the given outputs. edit reads and writes the action.yaml of a folder of the
// repository.
func (p *play) cut(workflow object, edit func(folder string, change func(action object) error) error) ([]*step, error) {
	jobs, _ := workflow["jobs"].(object)
	job, ok := jobs[p.job].(object)
	if !ok {
		return nil, fmt.Errorf("%s has no job %q, but %s", p.workflow, p.job, strings.Join(keys(jobs), ", "))
	}
	if called := text(job["uses"]); called != "" {
		return nil, fmt.Errorf("job %s calls %s: play a job of that file", p.job, called)
	}
	if container := job["container"]; container != nil && !p.here {
		return nil, fmt.Errorf("job %s runs in a container (%v). -here plays its steps on this machine, also those that install packages", p.job, container)
	}
	delete(job, "container")
	job["runs-on"] = platform
	kept := object{p.job: job}
	for _, needed := range list(job["needs"]) {
		kept[needed] = p.answer(needed)
	}
	workflow["jobs"] = kept
	steps, _ := job["steps"].([]any)
	return p.number("", steps, edit)
}

// answer is a job that has the outputs of another one, and does nothing.
func (p *play) answer(job string) object {
	outputs := object{}
	for _, output := range p.outputs[job] {
		key, value, _ := strings.Cut(output, "=")
		outputs[key] = value
	}
	return object{"runs-on": platform, "outputs": outputs, "steps": []any{object{"run": "true"}}}
}

// number numbers the steps, and leaves out those that are not played.
func (p *play) number(prefix string, steps []any, edit func(string, func(object) error) error) (all []*step, err error) {
	for i, raw := range steps {
		s, ok := raw.(object)
		if !ok {
			return nil, fmt.Errorf("step %s%d is no mapping", prefix, i+1)
		}
		uses, script := text(s["uses"]), text(s["run"])
		action, _, _ := strings.Cut(uses, "@")
		first, _, _ := strings.Cut(script, "\n")
		found := &step{number: prefix + strconv.Itoa(i+1), title: cmp.Or(text(s["name"]), action, first)}
		s["name"] = found.number + ": " + found.title
		all = append(all, found)
		switch {
		case p.skip != nil && (p.skip.MatchString(found.title) || p.skip.MatchString(script)):
			found.left = "-skip"
			p.leaveOut(s)
		case strings.HasPrefix(uses, "./"):
			err = edit(uses, func(action object) error {
				runs, _ := action["runs"].(object)
				inner, _ := runs["steps"].([]any)
				below, err := p.number(found.number+".", inner, edit)
				all = append(all, below...)
				return err
			})
		case action == "actions/checkout" && !elsewhere(s):
			// act copies the clone.
		case uses != "":
			found.left = "action " + action
			p.leaveOut(s)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// elsewhere tells whether a checkout is of another repository or commit.
func elsewhere(checkout object) bool {
	with, _ := checkout["with"].(object)
	return with["repository"] != nil || with["ref"] != nil
}

// leaveOut replaces what a step does by the outputs that were given for it.
func (p *play) leaveOut(s object) {
	delete(s, "uses")
	delete(s, "with")
	s["shell"], s["run"] = "bash", "true"
	if outputs := p.outputs[text(s["id"])]; len(outputs) > 0 {
		s["env"] = object{"OUTPUTS": strings.Join(outputs, "\n")}
		s["run"] = `echo "$OUTPUTS" >>"$GITHUB_OUTPUT"`
	}
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// list of words, which may be a single one.
func list(value any) (words []string) {
	if one := text(value); one != "" {
		return []string{one}
	}
	several, _ := value.([]any)
	for _, word := range several {
		words = append(words, text(word))
	}
	return words
}
