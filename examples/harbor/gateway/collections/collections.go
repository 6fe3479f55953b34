// Package collections holds the few generic helpers the gateway needs.
package collections

import "sort"

// Ordered is any type with a natural order.
type Ordered interface {
	~int | ~int64 | ~float64 | ~string
}

// Map applies transform to every item, keeping the order.
func Map[T, U any](items []T, transform func(T) U) []U {
	mapped := make([]U, 0, len(items))
	for _, item := range items {
		mapped = append(mapped, transform(item))
	}
	return mapped
}

// Filter returns the items for which keep is true.
func Filter[T any](items []T, keep func(T) bool) []T {
	var kept []T
	for _, item := range items {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// SortedKeys returns the keys of a map in ascending order.
func SortedKeys[K Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}
