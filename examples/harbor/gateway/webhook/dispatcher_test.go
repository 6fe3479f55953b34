package webhook

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"
)

// scripted answers requests with the given statuses, repeating the last.
type scripted struct {
	statuses []int
	calls    int
}

func (s *scripted) Do(*http.Request) (*http.Response, error) {
	index := s.calls
	if index >= len(s.statuses) {
		index = len(s.statuses) - 1
	}
	s.calls++
	return &http.Response{StatusCode: s.statuses[index], Body: io.NopCloser(strings.NewReader(""))}, nil
}

// drive runs a dispatcher for a simulated number of hours.
func drive(t *testing.T, client Doer, hours int) *MemoryQueue {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	queue := &MemoryQueue{}
	d := &Dispatcher{
		Client: client,
		Queue:  queue,
		Logger: log.New(io.Discard, "", 0),
		Now:    func() time.Time { return now },
	}
	ctx := context.Background()
	if err := d.Publish(ctx, Event{ID: "evt_1", Kind: "delivered"}, Endpoint{URL: "http://shop.invalid"}); err != nil {
		t.Fatal(err)
	}
	for end := now.Add(time.Duration(hours) * time.Hour); now.Before(end); now = now.Add(10 * time.Second) {
		if err := d.DeliverDue(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return queue
}

func TestDeliveryIsRetriedUntilItSucceeds(t *testing.T) {
	client := &scripted{statuses: []int{500, 503, 200}}
	queue := drive(t, client, 1)
	if client.calls != 3 || len(queue.DeadLetters()) != 0 {
		t.Errorf("calls = %d, dead = %v", client.calls, queue.DeadLetters())
	}
}

func TestDeliveryIsBuriedAfterMaxAttempts(t *testing.T) {
	client := &scripted{statuses: []int{500}}
	queue := drive(t, client, 24)
	if client.calls != MaxAttempts || len(queue.DeadLetters()) != 1 {
		t.Errorf("calls = %d, dead = %v", client.calls, queue.DeadLetters())
	}
	if !queue.Replay("evt_1", time.Now()) {
		t.Error("a dead delivery could not be replayed")
	}
}

func TestGoneIsNotRetried(t *testing.T) {
	client := &scripted{statuses: []int{http.StatusGone}}
	if drive(t, client, 1); client.calls != 1 {
		t.Errorf("calls = %d", client.calls)
	}
}

func TestRetryDelayIsCapped(t *testing.T) {
	for attempts, want := range map[int]time.Duration{1: baseDelay, 3: 4 * baseDelay, 12: maxDelay} {
		if got := retryDelay(attempts); got != want {
			t.Errorf("retryDelay(%d) = %s, want %s", attempts, got, want)
		}
	}
}
