package lifecycle

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// ExitExceptionAnnotation is the annotation in which a driver stores, on its own Pod, the stack trace that it ended
// with. Spark 4.1 and later do so if spark.kubernetes.driver.annotateExitException is set.
const ExitExceptionAnnotation = "spark.exit-exception"

// Bounds of what is stored of a driver's last texts, in bytes of JSON.
const (
	maxTerminationMessage = 512
	maxException          = 512
	maxRootCause          = 256
)

const outOfLimit = "It used more memory than its limit: raise spark.driver.memoryOverhead, or spark.driver.memory."

// exitCodes are the exit codes that Spark and the shell define.
var exitCodes = map[int32]string{
	11:  "Too many executors failed: see spark.executor.maxNumFailures.",
	50:  "An exception was not caught: the driver's log has it.",
	51:  "An exception was not caught, nor could it be logged.",
	52:  "The heap was too small: raise spark.driver.memory.",
	101: "The main class was not found: correct its name, or add the jar that has it.",
	124: "spark.driver.timeout was over: raise it, or leave it out.",
	126: "The command cannot be executed: correct the image's entrypoint, or its permissions.",
	127: "The command was not found: is this an image of Spark?",
	134: "The JVM crashed: the driver's log has the reason.",
	137: "It was killed.",
	143: "It was asked to stop.",
}

// wasKilled reports whether a process with this exit code was ended by a signal.
func wasKilled(exitCode int32) bool { return exitCode == 137 || exitCode == 143 }

func (c *Cause) addSentence(sentence string) {
	if sentence != "" {
		c.Message += " " + sentence
	}
}

// addException adds the top of a stack trace, and its last "Caused by" line.
func (c *Cause) addException(trace string) {
	lines := strings.Split(strings.TrimSpace(redact.Text(trace)), "\n")
	top := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		causedBy := strings.HasPrefix(lines[i], "Caused by: ")
		if causedBy && c.Detail == "" {
			c.Detail = outbox.Clip(lines[i], maxRootCause)
		}
		if causedBy || isFrame(lines[i]) {
			top = i
		}
	}
	c.addSentence(outbox.Clip(strings.Join(lines[:top], "\n"), maxException))
}

// addTerminationMessage adds the text that the driver wrote to its termination log.
func (c *Cause) addTerminationMessage(text string) {
	if text == "" {
		return
	}
	if c.Detail != "" {
		c.Detail += "\n"
	}
	c.Detail += "Termination message: " + text
}

// AddLog adds the end of a driver's log, as far as there is room.
func (c *Cause) AddLog(lines string) {
	const what = "Last lines of the log: "
	room := outbox.MaxEvidence - outbox.Size(c.fullMessage()) - len(what) - len("\\n")
	if words := logTail(lines, room); words != "" {
		c.Log = what + words
	}
}

// fullMessage returns the message with all evidence.
func (c Cause) fullMessage() string { return c.withEvidence(c.Message, c.Detail) }

// eventMessage returns the message for the event. It is empty if the event uses the record's message.
func (c Cause) eventMessage() string {
	if c.Unquoted == "" {
		return ""
	}
	return c.withEvidence(c.Unquoted)
}

// withEvidence returns a message with its evidence and the log.
func (c Cause) withEvidence(message string, evidence ...string) string {
	result := outbox.Clip(message, outbox.MaxMessage)
	for _, text := range append(evidence, c.Log) {
		if text != "" {
			result += "\n" + text
		}
	}
	return result
}

// logTail returns the end of a driver's log without the frames of Java stack traces. There are many frames, and the
// exception says more than they do.
func logTail(text string, limit int) string {
	text = redact.Text(text) // before cutting, which could split a secret
	lines := strings.Split(text, "\n")
	if len(lines) > 1 && isFrame(lines[1]) && cutFrame.MatchString(lines[0]) {
		lines = lines[1:]
		text = strings.Join(lines, "\n")
	}
	lines = slices.DeleteFunc(lines, isFrame)
	if kept := strings.TrimSpace(strings.Join(lines, "\n")); kept != "" {
		text = kept
	}
	return tail(strings.TrimSpace(text), limit)
}

// cutFrame matches the rest of a frame that the kubelet cut in the middle: it counts bytes.
var cutFrame = regexp.MustCompile(`^\S*\)$`)

func isFrame(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ")
}

// tail clips like outbox.Clip, but keeps the end.
func tail(text string, limit int) string {
	const ellipsis = "..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit && outbox.Size(text) <= limit {
		return text
	}
	if limit <= len(ellipsis) {
		return ""
	}
	text = text[max(len(text)-limit, 0):]
	fits := func(n int) bool { return outbox.Size(text[n:])+len(ellipsis) <= limit }
	return ellipsis + strings.ToValidUTF8(text[sort.Search(len(text), fits):], "")
}
