package wire

import "replab.dev/api/v1alpha1"

// The database that the social app lives in.
const (
	Database   = "social"
	UsersTable = "users"
	ProbeTable = "probe_writes"
)

// Paths of the social app, port PortSocial.
const (
	SocialPathRegister  = "/user/register" // POST RegisterRequest -> RegisterResponse
	SocialPathLogin     = "/login"         // POST LoginRequest -> LoginResponse
	SocialPathGet       = "/user/get/"     // GET, id follows -> Profile; 404 when there is none
	SocialPathSearch    = "/user/search"   // GET ?first_name=&last_name= prefixes -> []Profile, by id, at most SearchLimit
	SocialPathUpdate    = "/user/update/"  // PUT UpdateRequest, id follows: 204; 404 when there is none
	SocialPathProbe     = "/probe/"        // PUT, id follows: one row into ProbeTable, the availability probe's write
	SocialPathHealth    = "/healthz"       // 200 while the process runs
	SocialPathReady     = "/readyz"        // 200 once the write endpoint has answered a ping
	SocialPathMetrics   = "/metrics"
	SocialPathResources = AgentPathResources // GET Resources: what the app itself uses
)

// OperationRegister is the one operation whose writes are accounted for, as app, load script and recorder name it in what they count.
const OperationRegister = "register"

// OperationProfile reads one user.
const OperationProfile = "profile"

// OperationUpdate commits too, and is not accounted for: it changes rows.
const OperationUpdate = "update"

// SearchLimit bounds the rows of one search.
const SearchLimit = 100

// Headers between recorder and app. Not Idempotency-Key: Go's HTTP client would take it as leave to send a POST twice.
const (
	// HeaderWriteID carries the ledger's id of a write from the recorder to the app, in decimal.
	HeaderWriteID = "Replab-Write-Id"
	// HeaderRejected is set by the app on a failed write that the database certainly did not commit; its value is the
	// reason, one word: one of the Rejected constants. A failed write without it is indeterminate.
	HeaderRejected = "Replab-Rejected"
	// HeaderNode is set by the app on every answered query: the name of the node whose server executed it.
	HeaderNode = "Replab-Node"
	// HeaderUserID is set by the app on a successful register: users.id, so that the recorder need not parse the body.
	HeaderUserID = "Replab-User-Id"
	// HeaderStage is set by the load script: the name of the stage that the request belongs to. See Stage for a script that
	// does not set it.
	HeaderStage = "Replab-Stage"
	// HeaderLate is set by the load script in open-loop stages: microseconds between the intended start of the request
	// and its sending, which the recorder adds to the latency.
	HeaderLate = "Replab-Late-Microseconds"
)

// Values of HeaderRejected.
const (
	RejectedValidation = "validation" // the request is malformed, or a value does not fit its column
	RejectedNotSent    = "not-sent"   // no statement was sent: no connection was to be had
	RejectedReadOnly   = "read-only"  // the server takes no writes
	RejectedDeadlock   = "deadlock"   // rolled back by the server: deadlock, lock wait timeout, failed certification
	RejectedOverload   = "overload"   // the app had too many requests in flight
	RejectedRefused    = "refused"    // the server refused the statement otherwise: no such table, no right, a key taken
)

// EnvConfig tells an app of the user's own where its configuration is, a SocialConfig as JSON.
const EnvConfig = "REPLAB_CONFIG"

// SocialConfig configures `replab social`, or an app of the user's own.
type SocialConfig struct {
	Listen                     string                `json:"listen"`
	Engine                     string                `json:"engine"` // "MySQL"
	Writes                     Endpoint              `json:"writes"`
	Reads                      Endpoint              `json:"reads"`
	SecretDir                  string                `json:"secretDir"`
	PasswordHash               v1alpha1.PasswordHash `json:"passwordHash"`
	PasswordHashCost           int                   `json:"passwordHashCost,omitempty"` // bcrypt's cost, 4 to 15; 0 for the least
	MaxConnections             int                   `json:"maxConnections"`             // of each of the two pools
	MaxInFlight                int                   `json:"maxInFlight"`                // requests at once; more are answered 503, rejected "overload"
	RequestTimeoutMilliseconds int64                 `json:"requestTimeoutMilliseconds"`
	// NotSent are the numbers of errors by which the proxy in the path says that it has sent nothing of a statement to any server.
	NotSent []uint16 `json:"notSent,omitempty"`
	// HideNodes tells that what a connection learnt of its server is not true of its next answer: HeaderNode is to be left away.
	HideNodes bool `json:"hideNodes,omitempty"`
}

// RegisterRequest creates a user. Names are needed, 1 to 256 characters; a body over 16 KiB is refused with 413.
type RegisterRequest struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"second_name"`
	Birthdate string `json:"birthdate,omitempty"` // YYYY-MM-DD
	Biography string `json:"biography,omitempty"`
	City      string `json:"city,omitempty"`
	Password  string `json:"password"` // 1 to 72 bytes
}

// UpdateRequest gives a user another biography.
type UpdateRequest struct {
	Biography string `json:"biography"`
}

// RegisterResponse answers a register.
type RegisterResponse struct {
	UserID string `json:"user_id"`
}

// LoginRequest asks for a token.
type LoginRequest struct {
	ID       string `json:"id"`
	Password string `json:"password"`
}

// LoginResponse answers a login: 200, or 401 on a wrong password, 404 for no such user.
type LoginResponse struct {
	Token string `json:"token"`
}

// Profile is a user without the password.
type Profile struct {
	ID        string `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"second_name"`
	Birthdate string `json:"birthdate,omitempty"`
	Biography string `json:"biography,omitempty"`
	City      string `json:"city,omitempty"`
}

// ErrorResponse is the body of every answer that is not 2xx.
type ErrorResponse struct {
	Error string `json:"error"`
}

// SeededPassword is the password of every seeded user: they share one hash, since hashing a million would take hours.
const SeededPassword = "replab"

// SeedConfig configures `replab seed`, which loads the users through the write endpoint.
type SeedConfig struct {
	Engine           string                `json:"engine"`
	Writes           Endpoint              `json:"writes"`
	SecretDir        string                `json:"secretDir"`
	Users            int64                 `json:"users"`
	Seed             int64                 `json:"seed"`
	Locale           string                `json:"locale"` // "en" or "ru"
	PasswordHash     v1alpha1.PasswordHash `json:"passwordHash"`
	PasswordHashCost int                   `json:"passwordHashCost,omitempty"`
}
