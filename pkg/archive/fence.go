package archive

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// fence is where a writer went on without bytes that another one may have: what they write from there on differs at the same offset. The chunks behind it
// have it in their names, so that none is taken for one of the other writer. The zero value is none.
type fence struct {
	// offset is where it is.
	offset int64
	// id is never 0. It is the same for writers that went on from the same chunks with the same line.
	id uint64
	// behind is the id of the fence before it; 0 if it is the first one.
	behind uint64
}

// yielding is the bit of the ids of fences that do not count beside others at the same offset.
const yielding = 1 << 63

// fenceBehind returns a fence in front of a line.
func fenceBehind(before fence, offset int64, line []byte, yields bool) fence {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%d %d ", before.id, offset) // a hash fails never
	_, _ = hash.Write(line)
	id := max(hash.Sum64()&^yielding, 1)
	if yields {
		id |= yielding
	}
	return fence{offset: offset, id: id, behind: before.id}
}

// parseFence returns the fence of the name of a chunk. Of a name that no chunk has, it returns any.
func parseFence(text string) (of fence) {
	_, _ = fmt.Sscanf(text, "%d-%x-%x", &of.offset, &of.id, &of.behind) // the caller compares the name
	return of
}

// nextFence returns the next fence behind the last one. If writers have made several, that which begins first counts: it was there first, or what is between
// both is behind it, too.
func (f *FileInfo) nextFence(segments map[fence][]chunk) (next fence, ok bool) {
	for of := range segments {
		if of.id == 0 || of.behind != f.fence.id || of.offset < f.fence.offset || of.offset > f.Size {
			continue
		}
		if !ok || cmp.Or(cmp.Compare(of.offset, next.offset), cmp.Compare(of.id, next.id)) < 0 {
			next, ok = of, true
		}
	}
	return next, ok
}

// truncate leaves out what is behind an offset that is covered.
func (f *FileInfo) truncate(end int64) {
	f.Size = end
	i := slices.IndexFunc(f.chunks, func(part chunk) bool { return part.end() >= end })
	switch {
	case end == 0:
		f.chunks = nil
	case i >= 0:
		f.chunks = f.chunks[:i+1]
		f.chunks[i].length = end - f.chunks[i].offset
	}
}
