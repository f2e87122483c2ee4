// Package rng draws random values for tests. The same seed and purpose draw the same values again.
package rng

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Rand draws random values. It is safe for concurrent use.
type Rand struct {
	mutex sync.Mutex
	rand  *rand.Rand
}

// New returns a generator for one purpose. What one purpose draws does not change what another draws.
func New(seed uint64, purpose string) *Rand {
	hash := fnv.New64a()
	hash.Write([]byte(purpose))
	return &Rand{rand: rand.New(rand.NewPCG(seed, hash.Sum64()))}
}

// Chance is true with the given probability.
func (r *Rand) Chance(probability float64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.rand.Float64() < probability
}

// Below draws a number from 0 to limit-1.
func (r *Rand) Below(limit int) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.rand.IntN(limit)
}

// Between draws a duration from least to most.
func (r *Rand) Between(least, most time.Duration) time.Duration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return least + time.Duration(r.rand.Int64N(int64(most-least)+1))
}

// About draws a duration of an exponential distribution: mostly near the mean, and sometimes much longer.
func (r *Rand) About(mean time.Duration) time.Duration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return time.Duration(r.rand.ExpFloat64() * float64(mean))
}

// Shuffled returns the names in another order.
func (r *Rand) Shuffled(names []string) []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	names = slices.Clone(names)
	r.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// Pick draws one of several choices. Each is as likely as its weight.
func Pick[T any](r *Rand, choices []T, weight func(T) float64) T {
	var sum float64
	for _, choice := range choices {
		sum += weight(choice)
	}
	r.mutex.Lock()
	at := r.rand.Float64() * sum
	r.mutex.Unlock()
	for _, choice := range choices {
		if at -= weight(choice); at < 0 {
			return choice
		}
	}
	return choices[len(choices)-1]
}
