package parameters

import "slices"

// Reserved are the names, prefixes and suffixes of the settings that are reserved.
func Reserved() (names, prefixes, suffixes []string) {
	for _, r := range reservations {
		names, prefixes, suffixes = slices.Concat(names, r.names), slices.Concat(prefixes, r.prefixes), slices.Concat(suffixes, r.suffixes)
	}
	return names, prefixes, suffixes
}
