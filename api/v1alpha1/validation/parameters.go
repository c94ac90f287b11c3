package validation

// parameters: settings of the server that are not an experiment's to choose.
func parameters(s *spec) {
	if s.server == nil {
		return
	}
	for _, refusal := range s.server.RefuseParameters(s.Topology.Parameters) {
		s.refuse(true, at("topology.parameters").Key(refusal.Name), refusal.Why)
	}
}
