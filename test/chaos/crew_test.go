package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firesteel-dev/firesteel/test/chaos/dice"
	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

// member is a program that is started again whenever it ends, as kubelet would.
type member struct {
	name string
	// start starts the nth incarnation, from 1.
	start func(incarnation int, log string) (*controlplane.Process, error)
	// limit bounds its memory; 0 for no limit.
	limit int
}

// crew are the programs that run.
type crew struct {
	dir   string
	dice  *dice.Dice
	count func(fault string)
	// calm says that nothing is to fail.
	calm func() bool

	mutex   sync.Mutex
	running map[string]*post
	// incarnations counts the starts of each member.
	incarnations map[string]int
	peak         map[string]int
	charges      []string
}

// post is a member at work.
type post struct {
	member
	cancel  context.CancelFunc
	gone    chan struct{}
	process *controlplane.Process
	// inPeace says that its program is asked to end, and not killed, when it leaves.
	inPeace bool
	// killed is the last program of its that was killed, and failures counts those that ended by themselves in calm.
	killed   *controlplane.Process
	failures int
}

// maxFailures is how often a program may end by itself in calm: it may still have been starting when the storm ended.
const maxFailures = 5

func newCrew(dir string, dice *dice.Dice, count func(string), calm func() bool) *crew {
	return &crew{
		dir: dir, dice: dice, count: count, calm: calm,
		running: map[string]*post{}, incarnations: map[string]int{}, peak: map[string]int{},
	}
}

// join has a member work until it leaves.
func (c *crew) join(ctx context.Context, m member) error {
	process, err := c.startNext(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &post{member: m, cancel: cancel, gone: make(chan struct{}), process: process}
	c.mutex.Lock()
	c.running[m.name] = p
	c.mutex.Unlock()
	go c.keep(ctx, p)
	return nil
}

// leave has a member end for good: by kill -9, or in peace.
func (c *crew) leave(name string, inPeace bool) {
	c.mutex.Lock()
	p := c.running[name]
	delete(c.running, name)
	if p != nil {
		p.inPeace = inPeace
	}
	c.mutex.Unlock()
	if p != nil {
		p.cancel()
		<-p.gone
	}
}

// endPatience is longer than a program may take to end: the controller ends what it has begun, for up to 30 s.
const endPatience = time.Minute

// end ends the program of a member that leaves.
func (c *crew) end(p *post) {
	defer c.inspect(p.process)
	defer p.process.Kill()
	if !p.inPeace {
		return
	}
	_ = p.process.Stop()
	select {
	case <-p.process.Done():
	case <-time.After(endPatience):
		c.charge(fmt.Sprintf("%s does not end when it is asked to", p.process.Log))
	}
}

// disband ends all.
func (c *crew) disband() {
	for _, name := range c.names("") {
		c.leave(name, false)
	}
}

// names are those of the members whose names begin so, in order.
func (c *crew) names(prefix string) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.running)), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// kill is kill -9. The member is started again.
func (c *crew) kill(name string) bool {
	c.mutex.Lock()
	p := c.running[name]
	var process *controlplane.Process
	if p != nil {
		process = p.process
		p.killed = process
	}
	c.mutex.Unlock()
	if process == nil {
		return false
	}
	c.count("kill " + strings.TrimRight(name, "0123456789-"))
	process.Kill()
	return true
}

// keep starts a member again whenever it ends.
func (c *crew) keep(ctx context.Context, p *post) {
	defer close(p.gone)
	for {
		select {
		case <-ctx.Done():
			c.end(p)
			return
		case <-p.process.Done():
			c.inspect(p.process)
			c.noteEnd(p)
		case <-time.After(500 * time.Millisecond):
			c.weigh(p)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.dice.Between(0, 500*time.Millisecond)):
		}
		process, err := c.startNext(p.member)
		if err != nil {
			c.charge(err.Error())
			return
		}
		c.mutex.Lock()
		p.process = process
		c.mutex.Unlock()
	}
}

// noteEnd charges a program that ends again and again although nobody kills it and nothing fails.
func (c *crew) noteEnd(p *post) {
	c.mutex.Lock()
	killed := p.killed == p.process
	c.mutex.Unlock()
	if killed || !c.calm() {
		return
	}
	if p.failures++; p.failures == maxFailures {
		c.charge(fmt.Sprintf("%s ends by itself\n%s", p.process.Log, p.process.Tail(5)))
	}
}

func (c *crew) startNext(m member) (*controlplane.Process, error) {
	c.mutex.Lock()
	c.incarnations[m.name]++
	incarnation := c.incarnations[m.name]
	c.mutex.Unlock()
	return m.start(incarnation, filepath.Join(c.dir, fmt.Sprintf("%s-%d.log", m.name, incarnation)))
}

// inspect looks into what a program that ended has left. One that panicked did not just fail.
func (c *crew) inspect(process *controlplane.Process) {
	tail := process.Tail(200)
	for _, sign := range []string{"panic:", "fatal error:", "DATA RACE"} {
		if strings.Contains(tail, sign) {
			c.charge(fmt.Sprintf("%s ends with %s\n%s", process.Log, sign, process.Tail(60)))
		}
	}
}

// weigh remembers how much memory a member takes at most.
func (c *crew) weigh(p *post) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Pid()))
	if err != nil {
		return // it just ended
	}
	_, after, found := strings.Cut(string(status), "VmRSS:")
	if fields := strings.Fields(after); found && len(fields) > 0 {
		kilobytes, _ := strconv.Atoi(fields[0])
		c.mutex.Lock()
		c.peak[p.name] = max(c.peak[p.name], kilobytes<<10)
		c.mutex.Unlock()
		if p.limit > 0 && kilobytes<<10 > p.limit {
			c.charge(fmt.Sprintf("%s takes %d MiB of memory", p.process.Log, kilobytes>>10))
		}
	}
}

func (c *crew) charge(text string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.charges = append(c.charges, text)
}

func (c *crew) chargesUntilNow() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.charges)
}

// memory says how much each member took at most.
func (c *crew) memory() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var text []string
	for _, name := range slices.Sorted(maps.Keys(c.peak)) {
		text = append(text, fmt.Sprintf("%s %d MiB", name, c.peak[name]>>20))
	}
	return strings.Join(text, ", ")
}
