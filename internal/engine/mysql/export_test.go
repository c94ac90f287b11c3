package mysql

// NotClosed is how a server says that its data were not closed in order.
const NotClosed = notClosed
