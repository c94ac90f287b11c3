package main

import documents "replab.dev/internal/report/seeds"

// What the tables are made of.
type (
	figure = documents.Figure
	part   = documents.Part
)

var (
	seed001 = documents.Seed001
	seed004 = documents.Seed004
)

const withoutDistance = documents.WithoutDistance
