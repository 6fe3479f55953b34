// Package webhook tells customers' servers about events, see docs/webhooks.md.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"
)

const (
	// MaxAttempts is how often a delivery is tried before it is given up.
	MaxAttempts = 6

	baseDelay = 30 * time.Second
	maxDelay  = 30 * time.Minute

	signatureHeader = "X-Harbor-Signature"
)

// Event is something that happened to a parcel.
type Event struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	ParcelID string          `json:"parcelId"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// Endpoint is where a customer wants to receive events.
type Endpoint struct {
	URL    string
	Secret []byte
}

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	Event    Event
	Endpoint Endpoint
	Attempts int
	NextTry  time.Time
	LastErr  string
}

// Doer sends requests; *http.Client is one.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Dispatcher delivers events and retries those that fail.
type Dispatcher struct {
	Client Doer
	Queue  Queue
	Logger *log.Logger
	Now    func() time.Time
}

// statusError is an answer outside of 2xx.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("endpoint answered %d", int(s)) }

// permanent reports whether trying again is pointless: 410 means unsubscribed.
func (s statusError) permanent() bool { return int(s) == http.StatusGone }

// Publish queues an event for an endpoint, to be sent as soon as possible.
func (d *Dispatcher) Publish(ctx context.Context, event Event, endpoint Endpoint) error {
	return d.Queue.Push(ctx, Delivery{Event: event, Endpoint: endpoint, NextTry: d.Now()})
}

// Run delivers whatever is due, until the context ends.
func (d *Dispatcher) Run(ctx context.Context, poll time.Duration) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if err := d.DeliverDue(ctx); err != nil {
			d.Logger.Printf("webhook queue: %v", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// DeliverDue tries every delivery whose time has come, once.
func (d *Dispatcher) DeliverDue(ctx context.Context) error {
	due, err := d.Queue.PopDue(ctx, d.Now())
	if err != nil {
		return err
	}
	for _, delivery := range due {
		delivery.Attempts++
		if err := d.send(ctx, delivery); err != nil {
			if err := d.handleFailure(ctx, delivery, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// handleFailure schedules a failed delivery again with exponential backoff.
// After MaxAttempts, or when the endpoint is gone for good, the delivery goes
// to the dead letters, from where support can replay it.
func (d *Dispatcher) handleFailure(ctx context.Context, delivery Delivery, cause error) error {
	delivery.LastErr = cause.Error()
	status, isStatus := cause.(statusError)
	if delivery.Attempts >= MaxAttempts || (isStatus && status.permanent()) {
		d.Logger.Printf("webhook %s dead after %d attempts: %v", delivery.Event.ID, delivery.Attempts, cause)
		return d.Queue.Bury(ctx, delivery)
	}
	delivery.NextTry = d.Now().Add(retryDelay(delivery.Attempts))
	return d.Queue.Push(ctx, delivery)
}

// retryDelay doubles with every attempt, up to half an hour.
func retryDelay(attempts int) time.Duration {
	delay := baseDelay << (attempts - 1)
	if delay > maxDelay {
		return maxDelay
	}
	return delay
}

func (d *Dispatcher) send(ctx context.Context, delivery Delivery) error {
	body, err := json.Marshal(delivery.Event)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, delivery.Endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(signatureHeader, Sign(delivery.Endpoint.Secret, body))

	resp, err := d.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return statusError(resp.StatusCode)
	}
	return nil
}

// Sign computes the signature that lets a customer check where an event comes from.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
