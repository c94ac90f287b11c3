// Package screen draws a run in a terminal and redraws it as it goes.
package screen

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"replab.dev/internal/plugin/follow"
)

// Seen is the message of how the run is now.
type Seen struct{ follow.View }

// Ended is the message that nobody looks any more.
type Ended struct{}

// WidthUnknown and heightUnknown are taken until the terminal has told its size.
const (
	WidthUnknown  = 80
	heightUnknown = 24
)

// ownLines are what stands below a drawing: the way out, and the line of the cursor.
const ownLines = 2

// Model is the screen's state.
type Model struct {
	// Interrupted tells that the person went away.
	Interrupted bool

	left   bool // what is drawn last stays in the terminal
	view   follow.View
	all    follow.Events
	events []follow.Event
	width  int
	height int
}

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Seen:
		m.view = msg.View
		m.events = append(m.events, m.all.Next(msg.View)...)
	case Ended:
		m.left = true
		return m, tea.Quit
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c", "q":
			m.Interrupted, m.left = true, true
			return m, tea.Quit
		}
	}
	return m, nil
}

// View implements tea.Model.
func (m Model) View() tea.View {
	if m.view.Experiment == nil {
		return tea.NewView("")
	}
	width, height := cmp.Or(m.width, WidthUnknown), cmp.Or(m.height, heightUnknown)
	drawn := Draw(m.view, m.events, width, height-ownLines)
	if !m.left {
		drawn += faint.Styled("ctrl-c leaves; the run goes on") + "\n"
	}
	return tea.NewView(drawn)
}
