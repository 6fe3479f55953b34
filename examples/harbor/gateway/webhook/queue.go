package webhook

import (
	"context"
	"sync"
	"time"

	"harbor.example/gateway/collections"
)

// Queue stores deliveries between attempts. The production queue is the table
// webhook_deliveries of db/schema.sql.
type Queue interface {
	Push(ctx context.Context, delivery Delivery) error
	PopDue(ctx context.Context, now time.Time) ([]Delivery, error)
	Bury(ctx context.Context, delivery Delivery) error
}

// MemoryQueue is a Queue for tests and single-process set-ups.
type MemoryQueue struct {
	mu      sync.Mutex
	pending []Delivery
	dead    []Delivery
}

var _ Queue = (*MemoryQueue)(nil)

// Push implements Queue.
func (q *MemoryQueue) Push(_ context.Context, delivery Delivery) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, delivery)
	return nil
}

// PopDue implements Queue. It removes what it returns.
func (q *MemoryQueue) PopDue(_ context.Context, now time.Time) ([]Delivery, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	isDue := func(d Delivery) bool { return !d.NextTry.After(now) }
	due := collections.Filter(q.pending, isDue)
	q.pending = collections.Filter(q.pending, func(d Delivery) bool { return !isDue(d) })
	return due, nil
}

// Bury implements Queue.
func (q *MemoryQueue) Bury(_ context.Context, delivery Delivery) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead = append(q.dead, delivery)
	return nil
}

// DeadLetters returns the ids of the events that were given up.
func (q *MemoryQueue) DeadLetters() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return collections.Map(q.dead, func(d Delivery) string { return d.Event.ID })
}

// Replay queues a dead delivery once more, with a fresh set of attempts.
func (q *MemoryQueue) Replay(eventID string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, delivery := range q.dead {
		if delivery.Event.ID == eventID {
			q.dead = append(q.dead[:i], q.dead[i+1:]...)
			delivery.Attempts, delivery.NextTry = 0, now
			q.pending = append(q.pending, delivery)
			return true
		}
	}
	return false
}
