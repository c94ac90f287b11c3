package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var (
	when  = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	files = []file{{"kubectl-replab", 0o755, []byte("binary")}, {"LICENSE", 0o644, []byte("text")}}
)

func TestArchivesHoldTheFilesAndAreTheSameAgain(t *testing.T) {
	for _, p := range []platform{{"linux", "arm64"}, {"windows", "amd64"}} {
		a, err := pack(p, "v1.2.3", when, files)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files, unpack(t, a), cmp.AllowUnexported(file{})); diff != "" {
			t.Errorf("%s (-packed +unpacked):\n%s", a.name, diff)
		}
		again, err := pack(p, "v1.2.3", when.In(time.FixedZone("elsewhere", 3600)), files)
		if err != nil || again.sum() != a.sum() {
			t.Errorf("%s: %v, the same files on another machine have the sum %s, want %s", a.name, err, again.sum(), a.sum())
		}
	}
}

func unpack(t *testing.T, a archive) (found []file) {
	t.Helper()
	if a.platform.os == "windows" {
		r, err := zip.NewReader(bytes.NewReader(a.content), int64(len(a.content)))
		if err != nil {
			t.Fatal(err)
		}
		for i, entry := range r.File {
			from, err := entry.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, file{entry.Name, files[i].mode, content}) // zip for Windows has no modes
		}
		return found
	}
	return untar(t, bytes.NewReader(a.content))
}

func untar(t *testing.T, content io.Reader) (found []file) {
	t.Helper()
	packed, err := gzip.NewReader(content)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(packed)
	for {
		header, err := r.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(when) {
			t.Errorf("%s bears the time %s, want %s", header.Name, header.ModTime, when)
		}
		found = append(found, file{header.Name, header.Mode, content})
	}
}

// TestKrewFindsWhatItNeeds by the rules of its index: a platform each, with an address, a checksum, and a binary that the archive has.
func TestKrewFindsWhatItNeeds(t *testing.T) {
	var all []archive
	for _, p := range platforms {
		a, err := pack(p, "v1.2.3", when, []file{{p.binary(), 0o755, []byte(p.String())}, {"LICENSE", 0o644, nil}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	text, err := krewManifest("v1.2.3", "https://example.org/v1.2.3", all)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, Sha256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Kind != "Plugin" || manifest.Metadata.Name != "replab" || manifest.Spec.Version != "v1.2.3" || manifest.Spec.ShortDescription == "" || len(manifest.Spec.Platforms) != len(platforms) {
		t.Errorf("manifest:\n%s", text)
	}
	for i, p := range manifest.Spec.Platforms {
		a := all[i]
		if p.Selector.MatchLabels["os"] != a.platform.os || p.Selector.MatchLabels["arch"] != a.platform.arch {
			t.Errorf("platform %d is of %v, its archive of %s", i, p.Selector.MatchLabels, a.platform)
		}
		if p.URI != "https://example.org/v1.2.3/"+a.name || p.Sha256 != a.sum() || p.Bin != a.platform.binary() || p.Files[0].From != p.Bin {
			t.Errorf("platform %d: %+v", i, p)
		}
	}
}

func TestAReleaseHasAVersionAndARepository(t *testing.T) {
	for _, c := range [][2]string{{"1.2.3", "owner/replab"}, {"v1.2.3", ""}, {"v1.2", "owner/replab"}, {"v1.2.3;true", "owner/replab"}, {"v1.2.3", "owner/replab/x"}} {
		r := release{version: c[0], repository: c[1], out: filepath.Join(t.TempDir(), "dist"), said: t.Output()}
		if err := r.build(); err == nil || !strings.Contains(err.Error(), "OWNER/NAME") {
			t.Errorf("version %q of %q: %v", c[0], c[1], err)
		}
	}
}

func TestChecksumsAreAsSha256sumReadsThem(t *testing.T) {
	r := release{out: t.TempDir(), said: t.Output()}
	for _, name := range []string{"b", "a"} {
		if err := r.write(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	cmd.Dir = r.out
	if said, err := cmd.CombinedOutput(); err != nil || string(said) != "a: OK\nb: OK\n" {
		t.Errorf("%v: %s", err, said)
	}
}

func TestSubjectsAreGroupedByArea(t *testing.T) {
	got := byArea([]string{"lag: read less", "Say more", "Lag: wait", "a sentence that is too long for an area: no"})
	const want = "\n## lag\n\n- read less\n- wait\n\n## other\n\n- Say more\n- a sentence that is too long for an area: no\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNotesOfAFinalVersionSkipCandidates(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		if _, err := output("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet")
	for _, tag := range []string{"v0.1.0", "v0.2.0-rc.1", "v0.2.0-rc.2"} {
		git("commit", "--quiet", "--allow-empty", "--message", "lag: before "+tag)
		git("tag", tag)
	}
	git("commit", "--quiet", "--allow-empty", "--message", "lag: last")
	for version, want := range map[string]string{
		"v0.2.0":      "Changes since v0.1.0, by area.\n\n## lag\n\n- before v0.2.0-rc.1\n- before v0.2.0-rc.2\n- last\n",
		"v0.2.0-rc.3": "Changes since v0.2.0-rc.2, by area.\n\n## lag\n\n- last\n",
	} {
		r := release{version: version, out: t.TempDir()}
		if err := r.notes(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(r.out, "notes.md"))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", version, err, diff)
		}
	}
}

func TestEachTestOfTheRecorderMustRun(t *testing.T) {
	said := "=== RUN   TestX\n"
	for _, name := range recorderTests {
		said += "--- PASS: " + name + " (0.00s)\n    --- PASS: " + name + "/case (0.00s)\n"
	}
	if err := allPassed([]byte(said + "PASS\n")); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		"testing: warning: no tests to run\nPASS\n",
		strings.Replace(said, "\n--- PASS: "+recorderTests[1], "\n--- SKIP: "+recorderTests[1], 1),
		strings.ReplaceAll(said, recorderTests[2], recorderTests[2]+"Soon"),
	} {
		if err := allPassed([]byte(wrong)); err == nil {
			t.Errorf("accepted:\n%s", wrong)
		}
	}
}

func TestTheSBOMHasTheVersionOfTheRelease(t *testing.T) {
	got, err := ofVersion([]byte(`{"metadata": {"tools": [{"hashes": []}], "component": {"bom-ref": "pkg:golang/replab.dev@v0.0.0-1?type=module", "version": "v0.0.0-1"}},
		"dependencies": [{"ref": "pkg:golang/replab.dev@v0.0.0-1?type=module", "dependsOn": ["pkg:golang/a@v1?type=module&x=y"]}]}`), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	const own = "pkg:golang/replab.dev@v1.2.3?type=module"
	var bom, want any
	if err := json.Unmarshal(got, &bom); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"metadata": {"component": {"bom-ref": "`+own+`", "purl": "`+own+`", "version": "v1.2.3"}},
		"dependencies": [{"ref": "`+own+`", "dependsOn": ["pkg:golang/a@v1?type=module&x=y"]}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, bom); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
