package cluster

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Status writes a table of the components, and the node and pods if the API
// server answers, and what to do next.
func (l Lab) Status(w io.Writer) error {
	t := l.table()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tLOG")
	down, sick := 0, 0
	for _, stage := range stages(l.Layout) {
		for _, c := range stage {
			id, running := t.Find(c.Name)
			state, pid := "serving", fmt.Sprint(id.PID)
			if !running {
				state, pid = "stopped", "-"
				down++
			} else if err := c.probe(); err != nil {
				state = "not serving"
				sick++
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.Name, state, pid, l.Log(c.Name+".log"))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	l.workload(w)
	_, err := fmt.Fprintln(w, "\nNext: "+l.advice(down, sick))
	return err
}

// workload shows what runs in the cluster. A cluster that does not answer has been
// shown as such above.
func (l Lab) workload(w io.Writer) {
	if _, err := os.Stat(l.Kubeconfig()); err != nil || apiProbe(l.Layout, "/readyz")() != nil {
		return
	}
	for _, what := range [][]string{{"get", "nodes"}, {"get", "pods", "--all-namespaces"}} {
		out, err := l.kubectl(what...)
		if err != nil {
			out = err.Error()
		}
		if strings.TrimSpace(out) == "" {
			out = "No pods."
		}
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(out))
	}
}

func (l Lab) advice(down, sick int) string {
	total := 0
	for _, stage := range stages(l.Layout) {
		total += len(stage)
	}
	switch {
	case down == total:
		return "make lab-up"
	case down+sick > 0:
		return "make lab-up repairs it"
	default:
		return "export KUBECONFIG=" + l.Kubeconfig()
	}
}
