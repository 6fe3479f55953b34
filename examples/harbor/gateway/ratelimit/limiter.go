// Package ratelimit implements a token bucket per client.
package ratelimit

import (
	"sync"
	"time"
)

// bucket holds the tokens of one client. It is refilled lazily, on use.
type bucket struct {
	tokens float64
	filled time.Time
}

// TokenBucket allows Rate requests per second and client, and bursts up to
// Burst. It satisfies middleware.Limiter.
type TokenBucket struct {
	Rate  float64
	Burst float64

	mu      sync.Mutex
	now     func() time.Time
	buckets map[string]*bucket
}

// NewTokenBucket returns a limiter in which every client starts with a full bucket.
func NewTokenBucket(rate, burst float64) *TokenBucket {
	return &TokenBucket{Rate: rate, Burst: burst, now: time.Now, buckets: map[string]*bucket{}}
}

// Allow takes a token from the client's bucket. When none is left it returns
// false and the time until there will be one.
func (l *TokenBucket) Allow(client string) (bool, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()

	b := l.refill(client)
	if b.tokens < 1 {
		return false, time.Duration((1 - b.tokens) / l.Rate * float64(time.Second))
	}
	b.tokens--
	return true, 0
}

// Sweep forgets clients whose bucket is full again, to bound memory.
func (l *TokenBucket) Sweep() (removed int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for client := range l.buckets {
		if l.refill(client).tokens >= l.Burst {
			delete(l.buckets, client)
			removed++
		}
	}
	return removed
}

// refill brings a bucket up to date. The caller holds the lock.
func (l *TokenBucket) refill(client string) *bucket {
	now := l.now()
	b, known := l.buckets[client]
	if !known {
		b = &bucket{tokens: l.Burst, filled: now}
		l.buckets[client] = b
	}
	b.tokens += now.Sub(b.filled).Seconds() * l.Rate
	if b.tokens > l.Burst {
		b.tokens = l.Burst
	}
	b.filled = now
	return b
}
