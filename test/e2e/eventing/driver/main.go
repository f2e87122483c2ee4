// The driver of the tests of delivery stands in for Spark's: it ends at once, and fails in as many attempts as its last
// argument says.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	failures, err := strconv.Atoi(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "the last argument is not a number of attempts:", err)
		os.Exit(2)
	}
	// The id of the application ends with the number of the attempt.
	id := os.Getenv("SPARK_APPLICATION_ID")
	attempt, err := strconv.Atoi(id[strings.LastIndex(id, "-")+1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "the application's id %q does not end with an attempt\n", id)
		os.Exit(2)
	}
	if attempt < failures {
		fmt.Fprintf(os.Stderr, "attempt %d fails on purpose\n", attempt)
		os.Exit(1)
	}
}
