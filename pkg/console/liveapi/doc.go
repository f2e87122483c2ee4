// Package liveapi serves what runs, of package live, as a part of the console's API. Package visible says what of it a reader sees.
package liveapi
