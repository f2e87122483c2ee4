// Package dice draws what a chaos run leaves to chance. The same seed draws the same again.
package dice

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Dice may be thrown by several at once.
type Dice struct {
	mutex sync.Mutex
	rand  *rand.Rand
}

// New makes the dice of one purpose, so that what one draws does not change what another does.
func New(seed uint64, purpose string) *Dice {
	hash := fnv.New64a()
	hash.Write([]byte(purpose))
	return &Dice{rand: rand.New(rand.NewPCG(seed, hash.Sum64()))}
}

// Chance is true with a probability.
func (d *Dice) Chance(probability float64) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.rand.Float64() < probability
}

// Below is a number from 0 on, below a limit.
func (d *Dice) Below(limit int) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.rand.IntN(limit)
}

// Between is a time from least to most.
func (d *Dice) Between(least, most time.Duration) time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return least + time.Duration(d.rand.Int64N(int64(most-least)+1))
}

// About is a time that is mostly near a mean, and now and then much longer.
func (d *Dice) About(mean time.Duration) time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return time.Duration(d.rand.ExpFloat64() * float64(mean))
}

// Shuffled are several in another order.
func (d *Dice) Shuffled(names []string) []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	names = slices.Clone(names)
	d.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// Pick is one of several, each as likely as its weight says.
func Pick[T any](d *Dice, choices []T, weight func(T) float64) T {
	var sum float64
	for _, choice := range choices {
		sum += weight(choice)
	}
	d.mutex.Lock()
	at := d.rand.Float64() * sum
	d.mutex.Unlock()
	for _, choice := range choices {
		if at -= weight(choice); at < 0 {
			return choice
		}
	}
	return choices[len(choices)-1]
}
