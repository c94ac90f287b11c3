package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// gap between two columns.
const gap = 2

// Columns writes rows of cells below one another. Where they are wider than the writer, cells are broken between words.
func Columns(w io.Writer, rows [][]string) {
	widths := widthsOf(rows, Width(w))
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 1
		for i, cell := range row {
			cells[i] = strings.Split(ansi.Wrap(cell, widths[i], breaks), "\n")
			height = max(height, len(cells[i]))
		}
		for y := range height {
			line := ""
			for i, lines := range cells {
				text := ""
				if y < len(lines) {
					text = lines[y]
				}
				line += text + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text))+gap)
			}
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// breaks are where words may be broken, as at hyphens. pieces are what is not broken.
const breaks = "/"

var pieces = regexp.MustCompile("[^ " + breaks + "-]+[" + breaks + "-]?")

// widthsOf columns, of at most so many in all, where that is not 0: the widest is made narrower, down to its longest word while another is wider.
func widthsOf(rows [][]string, most int) []int {
	widths, words := []int{}, []int{}
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, words = append(widths, 1), append(words, 1)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
			for _, piece := range pieces.FindAllString(cell, -1) {
				words[i] = max(words[i], ansi.StringWidth(piece))
			}
		}
	}
	for most > 0 && sum(widths)+gap*(len(widths)-1) > most {
		i := widest(widths, words)
		if i < 0 {
			i = widest(widths, make([]int, len(widths))) // words are cut
		}
		if widths[i] == 1 {
			break
		}
		widths[i]--
	}
	return widths
}

// widest of the columns that are wider than their least, -1 where there is none.
func widest(widths, least []int) int {
	found := -1
	for i, n := range widths {
		if n > least[i] && (found < 0 || n > widths[found]) {
			found = i
		}
	}
	return found
}

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}
