package machine

import (
	"os"
	"testing"
)

func TestPeakMemoryIsAtLeastTheResidentMemory(t *testing.T) {
	resident, err := Resident(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	peak, err := PeakResident(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if resident < 1 || peak < resident {
		t.Errorf("%g MiB are resident, and %g at the peak", resident, peak)
	}
}

func TestAProcessThatIsGoneHasNoMemory(t *testing.T) {
	if mib, err := Resident(1 << 30); err == nil {
		t.Errorf("it has %g MiB", mib)
	}
}

func TestCPUTimeGrowsWithWork(t *testing.T) {
	before, err := CPUTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after-before < 2*tick; {
		if after, err = CPUTime(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
}
