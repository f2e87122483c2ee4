package usage

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxLabelID bounds the IDs that Spark counts.
	maxLabelID = 1 << 31
	// maxRanges bounds the ranges of a set that is stored. Spark counts executors one by one, so that few ranges hold many of them.
	maxRanges = 64
)

// ID returns the ID of an executor: the one that Spark counted or, of a Pod without one, a number made of its UID. counted is whether
// Spark's number names one Pod alone, which is so for Pods that the driver created.
func ID(label string, uid types.UID, counted bool) int64 {
	if id, err := strconv.ParseInt(label, 10, 64); counted && err == nil && id >= 0 && id < maxLabelID {
		return id
	}
	hash := fnv.New32a()
	hash.Write([]byte(uid))
	return maxLabelID + int64(hash.Sum32())
}

// ids is a set of IDs: ranges in order, with a distance of at least one ID.
type ids []idRange

type idRange struct{ first, last int64 }

// parseIDs reads a stored set. It ignores what it does not understand: anyone may have edited it.
func parseIDs(text string) ids {
	var set ids
	for text != "" && len(set) < maxRanges {
		var part string
		part, text, _ = strings.Cut(text, ",")
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseInt(first, 10, 64)
		to := from
		if isRange && err == nil {
			to, err = strconv.ParseInt(last, 10, 64)
		}
		if err == nil && from >= 0 && to >= from && to < 3*maxLabelID {
			set = append(set, idRange{from, to})
		}
	}
	return merged(set, 0)
}

// String returns a set as it is stored.
func (s ids) String() string {
	var text strings.Builder
	for i, r := range s {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.FormatInt(r.first, 10))
		if r.last > r.first {
			text.WriteByte('-')
			text.WriteString(strconv.FormatInt(r.last, 10))
		}
	}
	return text.String()
}

func (s ids) has(id int64) bool {
	_, found := slices.BinarySearchFunc(s, id, func(r idRange, id int64) int {
		switch {
		case r.last < id:
			return -1
		case r.first > id:
			return 1
		default:
			return 0
		}
	})
	return found
}

// with returns a set that also has other IDs.
func (s ids) with(others []int64) ids {
	all := slices.Clone(s)
	for _, id := range others {
		all = append(all, idRange{id, id})
	}
	return merged(all, 0)
}

// covers reports whether a set has all of another.
func (s ids) covers(other ids) bool {
	return slices.Equal(s, merged(slices.Concat(s, other), 0))
}

// hasHoles reports whether Spark counted an ID that a set does not have: it counts from 1, or from 0.
func (s ids) hasHoles() bool {
	counted := slices.DeleteFunc(slices.Clone(s), func(r idRange) bool { return r.first >= maxLabelID })
	return len(counted) > 1 || len(counted) == 1 && counted[0].first > 1
}

// bounded returns a set with few enough ranges, and reports whether it has IDs more for that.
func (s ids) bounded() (ids, bool) {
	if len(s) <= maxRanges {
		return s, false
	}
	distances := make([]int64, 0, len(s)-1)
	for i := range s[1:] {
		distances = append(distances, s[i+1].first-s[i].last)
	}
	slices.Sort(distances)
	return merged(s, distances[len(s)-maxRanges-1]), true
}

// merged returns ranges in order. It joins those that meet, or that have no more than a distance.
func merged(ranges ids, distance int64) ids {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b idRange) int { return cmp.Compare(a.first, b.first) })
	var joined ids
	for _, r := range sorted {
		if n := len(joined); n > 0 && r.first <= joined[n-1].last+max(distance, 1) {
			joined[n-1].last = max(joined[n-1].last, r.last)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}
