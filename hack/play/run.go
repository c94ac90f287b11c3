package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// run plays the job in a clone that it removes.
func (p *play) run(w io.Writer) error {
	folder, err := os.MkdirTemp("", "replab-play-")
	if err != nil {
		return err
	}
	defer removeAll(folder)
	clone := filepath.Join(folder, "clone")
	if err := p.clone(clone); err != nil {
		return err
	}
	steps, err := p.edit(clone)
	if err != nil {
		return err
	}
	played := p.perform(folder, clone, steps, w)
	report(w, steps)
	return played
}

// clone the last commit: what is not committed is not played.
func (p *play) clone(folder string) error {
	if said, err := exec.Command("git", "clone", "--quiet", p.repository, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("clone %s: %w: %s", p.repository, err, said)
	}
	return nil
}

// edit the workflow and the actions of the clone.
func (p *play) edit(clone string) (steps []*step, err error) {
	inFolder := func(folder string, change func(object) error) error {
		files, _ := filepath.Glob(filepath.Join(clone, folder, "action.y*ml"))
		if len(files) != 1 {
			return fmt.Errorf("the folder %s has %d files action.yaml or action.yml, want one", folder, len(files))
		}
		return edited(files[0], change)
	}
	err = edited(p.file(clone), func(workflow object) (err error) {
		steps, err = p.cut(workflow, inFolder)
		return err
	})
	return steps, err
}

func (p *play) file(clone string) string {
	return filepath.Join(clone, ".github", "workflows", filepath.Base(p.workflow))
}

func edited(file string, change func(object) error) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var content object
	if err := yaml.Unmarshal(source, &content); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := change(content); err != nil {
		return err
	}
	source, err = yaml.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}

// perform has act play the job, with a home of its own: a step may change settings of its user.
func (p *play) perform(folder, clone string, steps []*step, w io.Writer) error {
	home := filepath.Join(folder, "home")
	settings := filepath.Join(home, "act", "actrc") // without it act asks for one
	event := filepath.Join(folder, "event.json")
	payload, err := json.Marshal(map[string]string{"ref": p.ref})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		return err
	}
	for file, content := range map[string][]byte{settings: nil, event: payload} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	args := []string{
		p.event, "--json", "--directory", clone, "--workflows", p.file(clone), "--job", p.job, "--eventpath", event,
		"--platform", platform + "=-self-hosted", "--no-cache-server", "--env", "GITHUB_REPOSITORY=owner/replab",
	}
	for _, variable := range p.env {
		args = append(args, "--env", variable)
	}
	cmd := exec.Command(p.act, args...)
	cmd.Env = append(inherited(os.Environ()), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
	if cmd.Env, err = goCaches(cmd.Env); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	listen(out, steps, w)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("job %s of %s: %w", p.job, p.workflow, err)
	}
	return nil
}

// inherited variables are all but those of a runner that this program itself may run on.
func inherited(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc([]string{"GITHUB_", "RUNNER_", "ACTIONS_", "MAKE", "MFLAGS"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// goCaches keeps the caches of Go, which are in the home otherwise.
func goCaches(env []string) ([]string, error) {
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		folder, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("ask go for %s: %w", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(folder)))
	}
	return env, nil
}

// line of act's log.
type line struct {
	Level, Msg, Command string // Command: what a step wrote into a file of the runner
	Raw                 bool   `json:"raw_output"`
}

var (
	begun = regexp.MustCompile(`Run Main (\S+): `)
	ended = regexp.MustCompile(`(Success|Failure) - Main (\S+): .*\[(.*)\]$`)
)

// listen to act, print what steps print, and note how they end.
func listen(log io.Reader, steps []*step, w io.Writer) {
	lines := bufio.NewReader(log)
	for {
		said, err := lines.ReadBytes('\n')
		note(said, steps, w)
		if err != nil {
			return
		}
	}
}

func note(said []byte, steps []*step, w io.Writer) {
	var l line
	if json.Unmarshal(said, &l) != nil {
		fmt.Fprintf(w, "%s", said)
		return
	}
	l.Msg = strings.TrimRight(l.Msg, "\n")
	end, begin := ended.FindStringSubmatch(l.Msg), begun.FindStringSubmatch(l.Msg)
	switch {
	case end != nil:
		if s := numbered(steps, end[2]); s != nil {
			s.result, s.took = end[1], rounded(end[3])
		}
	case begin != nil:
		if s := numbered(steps, begin[1]); s != nil && s.left == "" {
			fmt.Fprintf(w, "=== %s: %s\n", s.number, s.title)
		}
	case l.Raw, l.Command != "", l.Level == "error", l.Level == "fatal":
		fmt.Fprintln(w, l.Msg)
	}
}

func numbered(steps []*step, number string) *step {
	if i := slices.IndexFunc(steps, func(s *step) bool { return s.number == number }); i >= 0 {
		return steps[i]
	}
	return nil
}

func rounded(took string) string {
	d, err := time.ParseDuration(took)
	if err != nil {
		return took
	}
	return d.Round(10 * time.Millisecond).String()
}

// report what was played, and what was not.
func report(w io.Writer, steps []*step) {
	fmt.Fprintln(w, "\n=== steps")
	for _, s := range steps {
		outcome, why := "played", s.took
		switch {
		case s.result == "":
			outcome, why = "skipped", "its condition, or an earlier failure"
		case s.left != "":
			outcome, why = "left out", s.left
		case s.result == "Failure":
			outcome = "FAILED"
		}
		fmt.Fprintf(w, "%-8s  %-4s %s (%s)\n", outcome, s.number, s.title, why)
	}
}

func keys(of object) []string { return slices.Sorted(maps.Keys(of)) }

// removeAll of a folder, also what Go's module cache left read-only.
func removeAll(folder string) {
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, "play:", err)
	}
}
