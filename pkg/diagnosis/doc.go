// Package diagnosis explains why an object is where it is, and what to do about it. The texts of conditions come from here, so that
// whatever else explains the same says it in the same words.
//
//	record, policy, facts -> Explanation -> condition
package diagnosis
