// Package finding says what a verdict found: a code with parameters. Each code has its effect on the verdict and its sentence. It is pure.
package finding

import "fmt"

// Code is a kind of finding: its effect, its sentence with the parameters in the order of Of, and what to do about it.
type Code struct {
	effect   Effect
	sentence string
	remedy   string
}

// codes in the order of their declaration.
var codes []Code

func declared(c Code) Code {
	codes = append(codes, c)
	return c
}

// decides declares a finding that leaves a run undecided. It needs a remedy.
func decides(effect Effect, sentence, remedy string) Code {
	return declared(Code{effect, sentence, remedy})
}

// fails declares a finding of a goal. What to do about it depends on the goal's metric: package remedy knows it.
func fails(sentence string) Code { return declared(Code{effect: Failed, sentence: sentence}) }

func passed(sentence string) Code { return declared(Code{effect: Passed, sentence: sentence}) }

func note(sentence string) Code { return declared(Code{effect: Note, sentence: sentence}) }

func clause(sentence string) Code { return declared(Code{effect: Clause, sentence: sentence}) }

// cause declares a clause with a remedy of its own, which counts more than its sentence's.
func cause(sentence, remedy string) Code { return declared(Code{Clause, sentence, remedy}) }

// Effect of a finding on the verdict.
type Effect int

// Effects, the weakest first.
const (
	// Clause is part of another finding: why something is not known, or not exact.
	Clause Effect = iota
	// Note limits a figure, and changes no verdict.
	Note
	// Passed: everything was measured, and all goals were met.
	Passed
	// Failed: a goal was not met.
	Failed
	// Inconclusive: something was not measured.
	Inconclusive
	// Invalid: figures contradict each other.
	Invalid
)

// Finding is something that a reader of a run must know.
type Finding struct {
	Code   Code
	Params []any // of the code's sentence, in its order; a Finding is a clause of it
}

// Of returns a finding.
func Of(code Code, params ...any) Finding { return Finding{Code: code, Params: params} }

// Effect on the verdict.
func (f Finding) Effect() Effect { return f.Code.effect }

// None tells that there is no finding.
func (f Finding) None() bool { return f.Code == Code{} }

// String is the sentence.
func (f Finding) String() string {
	if f.None() {
		return ""
	}
	return fmt.Sprintf(f.Code.sentence, f.Params...)
}

// Sentences of the findings that have an effect.
func Sentences(all []Finding, effect Effect) []string {
	var found []string
	for _, f := range all {
		if f.Effect() == effect {
			found = append(found, f.String())
		}
	}
	return found
}

// First returns the first finding that is not empty, an empty one where all are.
func First(of ...Finding) Finding {
	for _, f := range of {
		if !f.None() {
			return f
		}
	}
	return Finding{}
}
