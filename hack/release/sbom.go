package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// sbom lists the modules that the programs are made of, in CycloneDX.
func (r *release) sbom() error {
	cmd := exec.Command(r.cyclonedx, "mod", "-json", "-noserial", "-notimestamp", "-type", "application")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // it names them
	listed, err := finished(cmd)
	if err != nil {
		return err
	}
	content, err := ofVersion(listed, r.version)
	if err != nil {
		return fmt.Errorf("SBOM: %w", err)
	}
	return r.write("replab.cdx.json", content)
}

// ofVersion puts the release's version in place of what git says of the checkout, and leaves out the tool, whose sums differ by machine.
func ofVersion(listed []byte, version string) ([]byte, error) {
	var own struct {
		Metadata struct {
			Component struct {
				Ref string `json:"bom-ref"`
			}
		}
	}
	if err := json.Unmarshal(listed, &own); err != nil {
		return nil, err
	}
	ref := "pkg:golang/replab.dev@" + version + "?type=module"
	var bom map[string]any
	if err := json.Unmarshal(bytes.ReplaceAll(listed, []byte(own.Metadata.Component.Ref), []byte(ref)), &bom); err != nil {
		return nil, err
	}
	metadata, ok := bom["metadata"].(map[string]any)
	if !ok || own.Metadata.Component.Ref == "" {
		return nil, fmt.Errorf("it has no component of its own:\n%.500s", listed)
	}
	delete(metadata, "tools")
	component := metadata["component"].(map[string]any)
	component["version"], component["purl"] = version, ref
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	err := w.Encode(bom)
	return out.Bytes(), err
}
