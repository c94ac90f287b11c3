package screen

import (
	tea "charm.land/bubbletea/v2"

	"replab.dev/internal/plugin/follow"
)

// Seen is the message of how the run is now.
type Seen struct{ follow.View }

// Ended is the message that nobody looks any more.
type Ended struct{}

// widthUnknown is taken until the terminal has told how wide it is.
const widthUnknown = 80

// Model is the screen's state.
type Model struct {
	// Interrupted tells that the person went away.
	Interrupted bool

	view   follow.View
	all    follow.Events
	events []Event
	width  int
}

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Seen:
		m.view = msg.View
		for _, line := range m.all.Next(msg.View) {
			m.events = append(m.events, Event{msg.Age, line})
		}
	case Ended:
		return m, tea.Quit
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c", "q":
			m.Interrupted = true
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
	width := m.width
	if width == 0 {
		width = widthUnknown
	}
	return tea.NewView(Draw(m.view, m.events, width) + faint.Styled("ctrl-c leaves; the run goes on") + "\n")
}
