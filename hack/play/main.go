// Command play plays one job of a workflow on this machine: its `run:` steps, in order, in a clean clone of the last commit. act evaluates
// conditions, environments, outputs and the runner's files. Steps that use actions of others are left out, and listed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
)

func main() {
	p := play{outputs: map[string][]string{}}
	flag.StringVar(&p.act, "act", "act", "the program act")
	flag.StringVar(&p.repository, "C", ".", "the repository")
	flag.StringVar(&p.workflow, "workflow", "", "file in .github/workflows, such as ci.yaml")
	flag.StringVar(&p.job, "job", "", "job of the workflow")
	flag.StringVar(&p.event, "event", "push", "event that started the workflow")
	flag.StringVar(&p.ref, "ref", "", "ref of the event, such as refs/tags/v0.1.0; default: the branch")
	flag.BoolVar(&p.here, "here", false, "play a job that names a container on this machine itself")
	flag.Func("skip", "leave out steps whose name or script matches this expression", func(text string) (err error) {
		p.skip, err = regexp.Compile(text)
		return err
	})
	flag.Func("output", "ID.KEY=VALUE: output of a step that is left out, or of a job that this one needs; repeatable", p.addOutput)
	flag.Func("env", "KEY=VALUE: variable of the job; repeatable", func(text string) error {
		p.env = append(p.env, text)
		return nil
	})
	flag.Parse()
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // act ends by it, and this program cleans up
	if err := p.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "play:", err)
		os.Exit(1)
	}
}

// play says which job is played, and how.
type play struct {
	act, repository string
	workflow, job   string
	event, ref      string
	here            bool
	skip            *regexp.Regexp
	outputs         map[string][]string // KEY=VALUE, by the id of a step or a job that is not played
	env             []string
}

func (p *play) addOutput(text string) error {
	name, value, found := strings.Cut(text, "=")
	id, key, dotted := strings.Cut(name, ".")
	if !found || !dotted || strings.Contains(value, "\n") {
		return errors.New("want ID.KEY=VALUE in one line")
	}
	p.outputs[id] = append(p.outputs[id], key+"="+value)
	return nil
}
