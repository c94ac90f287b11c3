package main

import (
	"reflect"
	"testing"
)

func TestEveryEngineHasEveryRole(t *testing.T) {
	for name, r := range engines {
		v := reflect.ValueOf(r)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("engine %s has no %s", name, v.Type().Field(i).Name)
			}
		}
	}
}
