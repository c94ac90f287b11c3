package wire

// Setting is one that every server of an experiment must run with, or that decides a figure.
type Setting struct {
	Name  string `json:"name"` // as the server reports it
	Value string `json:"value"`
	// AnyValue tells that nothing is expected, and Value is empty: it is read to be stated, and may not change during the run.
	AnyValue bool `json:"anyValue,omitempty"`
	// MayLack tells that the server may take the setting at its start and report nothing of it.
	MayLack bool `json:"mayLack,omitempty"`
}

// NodeSettings is what a node's server said that it ran with, before the load and after it.
type NodeSettings struct {
	Node     string `json:"node"`
	Version  string `json:"version,omitempty"`
	Identity string `json:"identity,omitempty"` // the server's own; no two have the same
	// Unread says why nothing was read before the load, UnreadAfter why nothing after it; "" when it was.
	Unread      string        `json:"unread,omitempty"`
	UnreadAfter string        `json:"unreadAfter,omitempty"`
	Settings    []SettingRead `json:"settings,omitempty"`
}

// SettingRead is a setting of one server.
type SettingRead struct {
	Setting
	// Actual is what it was before the load, absent when the server has no such setting.
	Actual *string `json:"actual,omitempty"`
	// Differs tells that Actual is not what Value says.
	Differs bool `json:"differs,omitempty"`
	// Changed is what it was after the load, absent when that is Actual or was not read.
	Changed *string `json:"changed,omitempty"`
}
