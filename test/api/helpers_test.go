package api_test

import (
	"encoding/json"
	"testing"
)

// normal passes a value through JSON, so that numbers of different Go types compare by value.
func normal(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
