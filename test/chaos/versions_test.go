package chaos

import "path/filepath"

// programs are the folders with the programs of each version that takes turns: of this one only, or of an earlier one too.
func (w *env) programs() []string {
	if *versionsFlag == "" {
		return []string{w.dir}
	}
	return []string{w.earlier(), w.dir}
}

// version is the folder that the nth of the programs that take turns is started from.
func (w *env) version(n int) string {
	folders := w.programs()
	return folders[n%len(folders)]
}

func (w *env) earlier() string { return filepath.Join(w.dir, "earlier") }
