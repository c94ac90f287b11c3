package postgres

// Rejections are the errors that are told apart by their number alone.
var Rejections = rejections

// Search is the statement of a search.
var Search = search

// Quiet is how a store looks at an idle connection.
var Quiet = quiet
