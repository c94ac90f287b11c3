package social

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestTheContractNamesEverythingThatAnAppMustKnow: docs/how-to/own-app.md is what people write their own apps by.
func TestTheContractNamesEverythingThatAnAppMustKnow(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(experiment.Root(), "docs", "how-to", "own-app.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	names := []string{
		wire.EnvConfig, wire.ConfigDir + "/social.json", wire.SecretsDir, wire.AccountApp, wire.ProbeTable, wire.UsersTable,
		wire.HeaderWriteID, wire.HeaderRejected, wire.HeaderNode, wire.HeaderUserID, wire.HeaderStage, wire.HeaderLate,
		wire.RejectedValidation, wire.RejectedNotSent, wire.RejectedReadOnly, wire.RejectedDeadlock, wire.RejectedOverload, wire.RejectedRefused,
		wire.SocialPathHealth, wire.SocialPathReady,
	}
	for _, o := range (&app{}).operations() {
		names = append(names, o.method+" "+strings.TrimSuffix(o.path, "{id}"))
	}
	for _, v := range []any{wire.SocialConfig{}, wire.RegisterRequest{}, wire.LoginRequest{}, wire.LoginResponse{}, wire.RegisterResponse{}, wire.UpdateRequest{}} {
		for f := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(f).Tag.Get("json"), ",")
			names = append(names, `"`+name+`"`)
		}
	}
	for _, n := range names {
		if !strings.Contains(text, n) {
			t.Errorf("docs/how-to/own-app.md does not name %s", n)
		}
	}
}
