package live

import "math"

// Prices are what an hour of a core, of a GiB of memory and of a GPU costs. Without a currency there are none.
type Prices struct {
	CoreHour, GiBHour, GPUHour float64
	Currency                   string
}

// Of returns what usage costs; nil if there are no prices.
func (p Prices) Of(u *Usage) *Cost {
	if p.Currency == "" || p == (Prices{Currency: p.Currency}) {
		return nil
	}
	const hour, gibibyte = 3600, 1024
	c := &Cost{
		Cores: rounded(float64(u.CoreSeconds) / hour * p.CoreHour), Memory: rounded(float64(u.MebibyteSeconds) / hour / gibibyte * p.GiBHour),
		GPUs: rounded(float64(u.GPUSeconds) / hour * p.GPUHour), Currency: p.Currency,
	}
	c.Total = rounded(c.Cores + c.Memory + c.GPUs)
	return c
}

// rounded returns an amount to the millionth.
func rounded(amount float64) float64 { return math.Round(amount*millionth) / millionth }

// millionth is how many parts of an amount there are.
const millionth = 1e6
