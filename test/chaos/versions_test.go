package chaos

import "path/filepath"

// versions are the folders with the programs of each version that takes turns: of this one only, or of an earlier one too.
func (w *env) versions() []string {
	if *versionsFlag == "" {
		return []string{w.programs}
	}
	return []string{w.earlier(), w.programs}
}

// version is the folder that the nth of the programs that take turns is started from.
func (w *env) version(n int) string {
	folders := w.versions()
	return folders[n%len(folders)]
}

func (w *env) earlier() string { return filepath.Join(w.programs, *versionsFlag) }
