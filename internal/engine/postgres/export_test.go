package postgres

// BlocksQuery is how a reader asks for ids.
var BlocksQuery = blocksQuery
