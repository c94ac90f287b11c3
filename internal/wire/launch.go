package wire

// LaunchConfig configures `replab launch`, which starts a program whose configuration file must hold passwords.
type LaunchConfig struct {
	Argv []string `json:"argv"`
	// Template is the file without the passwords: @secret:NAME@ stands where the secret NAME is to be.
	Template  string `json:"template"`
	File      string `json:"file"` // the whole one, which the program reads; in memory
	SecretDir string `json:"secretDir"`
}
