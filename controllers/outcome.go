package controllers

import "replab.dev/controllers/step"

// Outcome is what a step came to.
type Outcome = step.Outcome

// The words of the steps.
var (
	Done     = step.Done
	Wait     = step.Wait
	Terminal = step.Terminal
)
