// Command words prints a hint for `make verify`: how many sentences and cells of tables are too long, and the first ten of them. They are no error.
package main

import (
	"fmt"
	"os"

	"replab.dev/test/docs"
)

func main() {
	pages, err := docs.All()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(docs.Hint(pages))
}
