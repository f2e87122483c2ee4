package why

import (
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// maxLog bounds the log that is read. maxLine bounds a line in a message.
const (
	maxLog  = 256 << 10
	maxLine = 400
)

// sign is a cause that a line of a log shows, by some words in the line.
type sign struct {
	cause  Cause
	words  []string
	remedy string
	// change returns the change that removes the cause; nil if there is none.
	change func(v *view) []Change
}

// signs returns the signs in the order of the search. The most specific ones are first, since one error causes other lines.
func signs() []sign {
	image := func(*view) []Change { return []Change{{Image, "IMAGE"}} }
	return []sign{
		{QuotaRefusesExecutors, []string{"exceeded quota"}, "", nil},
		{PodSecurityViolated, []string{"violates PodSecurity"}, "", nil},
		{WebhookRefused, []string{"denied the request"}, "", nil},
		{DriverForbidden, []string{`is forbidden: User "system:serviceaccount:`, "Configured service account doesn't have access"}, "", nil},
		{ServiceAccountMissing, []string{"error looking up service account"}, "", nil},
		{DNSFailed, []string{"UnknownHostException: kubernetes.default", "kubernetes.default.svc: Try again"}, "See the DNS of the cluster: the driver cannot resolve the name of the API server.", nil},
		{APIUnreachable, []string{
			"Failed to connect to kubernetes.default", "ConnectException: Failed to connect to /",
		}, "See network policies and the node's network: the driver must reach the API server.", nil},
		{ExecutorOutOfMemory, []string{"possible container OOM", "exit code 137"}, "Raise the overhead of executors, or let each do fewer tasks at once.", func(v *view) []Change {
			return []Change{v.moreOverhead(ofExecutors, 0)}
		}},
		{ExecutorHeapTooSmall, []string{"exit code 52"}, "Raise spark.executor.memory.", func(v *view) []Change {
			return []Change{v.moreHeap(ofExecutors)}
		}},
		{DriverHeapTooSmall, []string{"OutOfMemoryError: Java heap space", "OutOfMemoryError: GC overhead limit exceeded"}, "Raise spark.driver.memory.", func(v *view) []Change {
			return []Change{v.moreHeap(ofDriver)}
		}},
		{DriverOutOfMemory, []string{"OutOfMemoryError: Metaspace", "OutOfMemoryError: Direct buffer memory", "OutOfMemoryError: unable to create", "Cannot reserve"},
			"Raise spark.driver.memoryOverhead.", func(v *view) []Change {
				return []Change{v.moreOverhead(ofDriver, limitOf(v.Driver, v.mainContainer()))}
			}},
		{ResultTooLarge, []string{"spark.driver.maxResultSize"}, "Collect less to the driver, or raise spark.driver.maxResultSize and spark.driver.memory.", nil},
		{DiskFull, []string{"No space left on device"}, "Give the Pods a volume for spark.local.dir (spark-local-dir-1), or a larger one.", nil},
		{DependencyUnsolved, []string{"unresolved dependency", "UNRESOLVED DEPENDENCIES", "download failed"},
			"Correct the coordinates in spark.jars.packages, or see whether the driver reaches the repository (spark.jars.repositories).", nil},
		{FileSystemMissing, []string{"No FileSystem for scheme", "S3AFileSystem not found", "UnsupportedFileSystemException"},
			"Add the library of the file system to the image, or to spark.jars.packages: for s3a it is org.apache.hadoop:hadoop-aws.", nil},
		{MainClassNotFound, []string{"Failed to load class"}, "Correct the name of the class, or add the jar that has it.", mainClass},
		{JavaTooOld, []string{"UnsupportedClassVersionError"}, "Use an image with a newer Java, or build for the Java of the image.", image},
		{LibraryConflict, []string{"NoSuchMethodError", "NoSuchFieldError", "AbstractMethodError", "IncompatibleClassChangeError"},
			"Build against the versions of Spark and Scala that the image has, and leave their libraries out of the jar.", nil},
		{PythonModuleMissing, []string{"ModuleNotFoundError", "ImportError: "}, "Add the module to the image, or to pyFiles or archives.", nil},
		{PythonMismatch, []string{"PYTHON_VERSION_MISMATCH", "Python in worker has different version"}, "Use one image for driver and executors.", image},
		{ClassNotFound, []string{"ClassNotFoundException", "NoClassDefFoundError", "DATA_SOURCE_NOT_FOUND", "Failed to find data source", "No suitable driver"},
			"Add the jar that has the class to the image, to jars or to spark.jars.packages.", nil},
		{AccessDenied, []string{
			"AccessDeniedException", "AccessControlException", "Status Code: 403", "Permission denied", "NoCredentials", "Unable to load credentials",
			"Unable to load AWS credentials", "InvalidAccessKeyId", "SignatureDoesNotMatch",
		}, "Give the account that reads or writes the right, or correct its credentials.", nil},
		{FileNotFound, []string{
			"FileNotFoundException", "NoSuchFileException", "PATH_NOT_FOUND", "Path does not exist", "Input path does not exist", "can't open file",
			"No such file or directory", "NoSuchBucket", "NoSuchKey",
		}, "Correct the path, or put the file there: a path without scheme is one inside of the image.", nil},
		{PortTaken, []string{"could not bind on", "Address already in use"}, "Choose another port, or let Spark choose one.", nil},
		{ExecutorsLost, []string{"Max number of executor failures", "ExecutorLostFailure"}, "See why executors end: kubectl spark logs --all, or Events of their Pods.", nil},
		{HostUnknown, []string{"UnknownHostException"}, "Correct the name of the host, or see the DNS of the cluster.", nil},
		{ConnectionFailed, []string{"ConnectException", "Connection refused", "SocketTimeoutException", "connect timed out"}, "See whether the server runs, and whether a network policy lets the Pods reach it.", nil},
		{WrongArchitecture, []string{"exec format error"}, "Use an image for the architecture of the node, or select nodes of the image's.", image},
	}
}

func mainClass(*view) []Change { return []Change{{MainClass, "CLASS"}} }

// maxInLog bounds the causes that are taken from a log.
const maxInLog = 2

// inLog returns the causes in the driver's log, termination message and annotation; none if there is no sign and no exception.
func (v *view) inLog(e *ending) (all []Reason) {
	lines := v.lines(e)
	exceptions := exceptionsOf(lines)
	var explained []string // each line counts for its first sign only
	for _, s := range signs() {
		line := s.find(exceptions)
		if line == "" {
			line = s.find(lines)
		}
		if line == "" || len(all) == maxInLog || slices.Contains(explained, line) {
			continue
		}
		explained = append(explained, line)
		all = append(all, v.ofSign(s, line, lines))
	}
	if len(all) == 0 && len(exceptions) > 0 {
		all = append(all, Reason{
			Cause: ApplicationFailed, Evidence: v.logEvidence(exceptions[0]),
			Remedy: "Correct the application; its log has the whole trace: kubectl spark logs " + v.Name,
		})
	}
	return all
}

// lostTask is in each line about a failed task of an executor.
const lostTask = "Lost task "

// ofSign returns the cause for a sign. line is the line that shows it, and lines are all lines.
func (v *view) ofSign(s sign, line string, lines []string) Reason {
	evidence := v.logEvidence(line)
	if refused := v.refused(line, ofExecutors, evidence); refused != nil {
		refused.Summary = ""
		return *refused
	}
	r := Reason{Cause: s.cause, Evidence: evidence, Remedy: s.remedy}
	if s.cause == ClassNotFound && v.MainClass != "" && strings.Contains(line, "ClassNotFoundException: "+v.MainClass) {
		r.Cause, r.Remedy, s.change = MainClassNotFound, "Correct the name of the class, or add the jar that has it.", mainClass
	}
	inExecutor := func(line string) bool {
		return strings.Contains(line, lostTask) && strings.Contains(line, "OutOfMemoryError")
	}
	if s.cause == DriverHeapTooSmall && slices.ContainsFunc(lines, inExecutor) {
		r.Cause, r.Remedy = ExecutorHeapTooSmall, "Raise spark.executor.memory."
		r.Changes = []Change{v.moreHeap(ofExecutors)}
		return r
	}
	if s.change != nil {
		r.Changes = s.change(v)
	}
	return r
}

// logEvidence returns the evidence of a line.
func (v *view) logEvidence(line string) string {
	return "The driver's log says: " + text.Clip(v.clean(line), maxLine)
}

// find returns the first line with one of the words of a sign; empty if no line has any.
func (s sign) find(lines []string) string {
	for _, line := range lines {
		if containsAny(line, s.words...) {
			return line
		}
	}
	return ""
}

// lines returns the lines that the driver left: the exception on its Pod, its termination message, the end of its log.
func (v *view) lines(e *ending) []string {
	var left []string
	if v.Driver != nil {
		left = append(left, v.Driver.Annotations[lifecycle.ExitExceptionAnnotation])
		for _, status := range v.Driver.Status.ContainerStatuses {
			for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
				if state.Terminated != nil {
					left = append(left, state.Terminated.Message)
				}
			}
		}
	}
	left = append(left, v.Log)
	if e != nil {
		left = append(left, e.quoted)
	}
	all := strings.Join(left, "\n")
	return strings.Split(all[max(0, len(all)-maxLog):], "\n")
}

// exceptionsOf returns the lines that begin with an exception, in the order from the last line to the first. Lines with "Caused by" come before
// the others: so the innermost cause of the last trace is first.
func exceptionsOf(lines []string) []string {
	var causes, others []string
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], "\r ")
		name, isCause := exceptionIn(line)
		switch {
		case name == "":
		case isCause:
			causes = append(causes, line)
		default:
			others = append(others, line)
		}
	}
	return append(causes, others...)
}

// exceptionIn returns the class of the exception that a line begins with, and reports whether it caused another one. The name is empty if
// the line begins with none.
func exceptionIn(line string) (name string, isCause bool) {
	rest, isCause := strings.CutPrefix(strings.TrimLeft(line, " \t"), "Caused by: ")
	if at := strings.Index(rest, `Exception in thread "`); at == 0 {
		_, rest, _ = strings.Cut(rest[len(`Exception in thread "`):], `" `)
	}
	rest = strings.TrimPrefix(rest, ": ") // Py4J begins a line so
	name, _, _ = strings.Cut(rest, ":")
	name = strings.TrimSpace(name)
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || !unicode.IsUpper(rune(last[0])) || !strings.HasSuffix(last, "Error") && !strings.HasSuffix(last, "Exception") {
		return "", false
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._$", r)
	}) {
		return "", false
	}
	return name, isCause
}
