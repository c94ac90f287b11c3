package mariadb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/mariadb/gtid"
	"replab.dev/internal/wire"
)

// copyPort is where the start wrapper of a server gives copies: beside the server.
func copyPort(port int) int { return port + 1 }

// loadFile is the content of a file of the data directory, "" without one. A file that is empty is one blank.
func loadFile(name string) string {
	return fmt.Sprintf("COALESCE(CONCAT(LOAD_FILE(CONCAT(@@GLOBAL.datadir, '%s')), ' '), '')", name)
}

// cloneState is how the last copy went, by its files.
func cloneState(request, copied string) (engine.CloneState, string) {
	switch {
	case request != "":
		return engine.CloneInProgress, ""
	case copied == "":
		return "", ""
	case strings.TrimSpace(copied) == "":
		return engine.CloneCompleted, ""
	}
	return engine.CloneFailed, strings.TrimSpace(copied)
}

// copyFigures are nil where the wrapper left no figures.
func copyFigures(text string) *engine.CopyFigures {
	var f engine.CopyFigures
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	return &f
}

const errFileExists = 1086 // ER_FILE_EXISTS_ERROR

// Clone implements engine.Admin. It leaves a request in the data directory and shuts the server down; its start wrapper makes the copy.
// The donor's history goes with the request, since a copy of its data lacks its binary log.
func (a *admin) Clone(ctx context.Context, donor engine.Source) error {
	history, err := a.historyOf(ctx, donor)
	if err != nil {
		return fmt.Errorf("ask %s for its history: %w", donor.Name, err)
	}
	request, err := json.Marshal(engine.CopyRequest{Name: donor.Name, Host: donor.Host, Port: copyPort(donor.Port), Note: history})
	if err != nil {
		return err
	}
	var dataDir string
	if err := a.DB.QueryRowContext(ctx, "SELECT @@GLOBAL.datadir").Scan(&dataDir); err != nil {
		return fmt.Errorf("ask for the data directory: %w", err)
	}
	// The file's name is no parameter of the statement.
	leave := fmt.Sprintf("SELECT ? INTO DUMPFILE '%s%s'", strings.ReplaceAll(dataDir, "'", "''"), engine.CopyRequestFile)
	_, err = a.DB.ExecContext(ctx, leave, string(request))
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number != errFileExists { // one that stands is as good
		return fmt.Errorf("leave the request for a copy: %w", err)
	}
	_, err = a.DB.ExecContext(ctx, "SHUTDOWN")
	if errors.As(err, &refused) {
		return fmt.Errorf("have the server end for its copy: %w", err)
	}
	return ctx.Err()
}

// historyOf is the state of a donor's binary log.
func (a *admin) historyOf(ctx context.Context, donor engine.Source) (string, error) {
	p := a.AdminParams
	p.Host, p.Port = donor.Host, donor.Port
	other, err := family.NewAdmin(p, dialect.Acts)
	if err != nil {
		return "", err
	}
	defer other.Close()
	var state string
	err = other.DB.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_binlog_state").Scan(&state)
	return state, err
}

// Give implements engine.Copier.
func (Server) Give(_ []string, p engine.GiveParams, password string) engine.Give {
	return engine.Give{
		Argv: []string{
			"mariadb-backup", "--defaults-file=" + p.SecretFile, "--backup", "--stream=mbstream",
			"--target-dir=" + p.TargetDir, "--datadir=" + p.DataDir,
		},
		Secret: fmt.Sprintf("[mariadb-backup]\nuser=%s\npassword=\"%s\"\nsocket=%s\n", wire.AccountAdmin, password, p.Socket),
	}
}

// Take implements engine.Copier.
func (Server) Take(dir string) []string { return []string{"mbstream", "-x", "-C", dir} }

// Finish implements engine.Copier.
func (Server) Finish(dir string) []string {
	return []string{"mariadb-backup", "--prepare", "--target-dir=" + dir}
}

// positionFiles have the position of a copy in their third column; the name is that of the version.
var positionFiles = []string{"mariadb_backup_binlog_info", "xtrabackup_binlog_info"}

// Notes implements engine.Copier. The state that a server finds beside a binary log that is not there yet is where it goes on from:
// the donor's history, and where it stood when the copy was made.
func (Server) Notes(r engine.CopyRequest, read func(string) (string, error)) (map[string]string, error) {
	history, err := gtid.Parse(r.Note)
	if err != nil {
		return nil, fmt.Errorf("the donor's history: %w", err)
	}
	var text string
	for _, name := range positionFiles {
		if text, err = read(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the copy's position: %w", err)
	}
	var position string
	if columns := strings.Split(strings.TrimRight(text, "\n"), "\t"); len(columns) >= 3 {
		position = columns[2]
	}
	at, err := gtid.Parse(position)
	if err != nil {
		return nil, fmt.Errorf("the copy's position: %w", err)
	}
	if at.Beyond(gtid.State{}) == 0 && history.Beyond(gtid.State{}) > 0 {
		return nil, fmt.Errorf("the copy has no position, but the donor has executed %s", history)
	}
	var lines strings.Builder
	for entry := range strings.SplitSeq(history.Union(at).String(), ",") {
		if entry != "" {
			lines.WriteString(entry + "\n")
		}
	}
	return map[string]string{stateFile: lines.String()}, nil
}

// stateFile belongs to the binary log of config.
const stateFile = "binlog.state"
