// Command gateway is the public entrance of Harbor: it checks tokens and rate
// limits, passes requests on to pricing and the ledger, and sends webhooks.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"harbor.example/gateway/middleware"
	"harbor.example/gateway/ratelimit"
	"harbor.example/gateway/router"
	"harbor.example/gateway/webhook"
)

// config is read from the environment once, at start.
type config struct {
	addr          string
	pricingURL    string
	ledgerURL     string
	tokenSecret   string
	webhookSecret string
}

func loadConfig() (config, error) {
	c := config{
		addr:          envOr("HARBOR_ADDR", ":8080"),
		pricingURL:    envOr("HARBOR_PRICING_URL", "http://localhost:8081"),
		ledgerURL:     envOr("HARBOR_LEDGER_URL", "http://localhost:8082"),
		tokenSecret:   os.Getenv("HARBOR_TOKEN_SECRET"),
		webhookSecret: os.Getenv("HARBOR_WEBHOOK_SECRET"),
	}
	if c.tokenSecret == "" || c.webhookSecret == "" {
		return c, errors.New("HARBOR_TOKEN_SECRET and HARBOR_WEBHOOK_SECRET have to be set")
	}
	return c, nil
}

func envOr(name, fallback string) string {
	if value, ok := os.LookupEnv(name); ok {
		return value
	}
	return fallback
}

// upstream returns a handler that passes requests on to another service.
func upstream(rawURL string) (http.Handler, error) {
	target, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
		http.Error(w, "upstream unavailable", http.StatusBadGateway)
	}
	return proxy, nil
}

// newRouter wires routes, scopes and upstreams together.
func newRouter(
	c config,
	logger *log.Logger,
	limiter middleware.Limiter,
	queue *webhook.MemoryQueue,
	dispatcher *webhook.Dispatcher,
) (*router.Router, error) {
	pricing, err := upstream(c.pricingURL)
	if err != nil {
		return nil, err
	}
	ledger, err := upstream(c.ledgerURL)
	if err != nil {
		return nil, err
	}
	verifier := middleware.HMACVerifier{Secret: []byte(c.tokenSecret), Now: time.Now}
	scope := func(name string) router.Middleware { return middleware.RequireScope(verifier, name) }

	r := router.New(middleware.Logging(logger), middleware.Recover(logger), middleware.RateLimit(limiter))
	r.HandleFunc(http.MethodGet, "/health", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	r.Handle(http.MethodPost, "/v1/quotes", pricing, scope("quotes:create"))
	r.Handle(http.MethodGet, "/v1/fuel-index/{region}", pricing)
	r.Handle(http.MethodGet, "/v1/parcels", ledger, scope("parcels:read"))
	r.Handle(http.MethodPost, "/v1/parcels", ledger, scope("parcels:write"))
	r.Handle(http.MethodGet, "/v1/parcels/{id}", ledger, scope("parcels:read"))
	r.Handle(http.MethodDelete, "/v1/parcels/{id}", ledger, scope("parcels:write"))
	r.Handle(http.MethodGet, "/v1/parcels/{id}/events", ledger, scope("parcels:read"))
	r.HandleFunc(http.MethodPost, "/internal/events", acceptEvent(dispatcher, []byte(c.webhookSecret)), scope("admin"))
	r.HandleFunc(http.MethodGet, "/admin/dead-letters", listDeadLetters(queue), scope("admin"))
	r.HandleFunc(http.MethodPost, "/admin/dead-letters/{id}/replay", replayDeadLetter(queue), scope("admin"))
	return r, nil
}

// acceptEvent takes events from the other services and queues them for customers.
func acceptEvent(dispatcher *webhook.Dispatcher, secret []byte) http.HandlerFunc {
	type submission struct {
		Event webhook.Event `json:"event"`
		URL   string        `json:"url"`
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var s submission
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil || s.URL == "" {
			http.Error(w, "malformed event", http.StatusBadRequest)
			return
		}
		endpoint := webhook.Endpoint{URL: s.URL, Secret: secret}
		if err := dispatcher.Publish(r.Context(), s.Event, endpoint); err != nil {
			http.Error(w, "queue unavailable", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

func listDeadLetters(queue *webhook.MemoryQueue) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string][]string{"events": queue.DeadLetters()})
	}
}

func replayDeadLetter(queue *webhook.MemoryQueue) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !queue.Replay(router.ParamsFrom(r.Context())["id"], time.Now()) {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

func run(logger *log.Logger) error {
	c, err := loadConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	queue := &webhook.MemoryQueue{}
	limiter := ratelimit.NewTokenBucket(20, 60)
	dispatcher := &webhook.Dispatcher{
		Client: &http.Client{Timeout: 10 * time.Second},
		Queue:  queue,
		Logger: logger,
		Now:    time.Now,
	}
	handler, err := newRouter(c, logger, limiter, queue, dispatcher)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: c.addr, Handler: handler, ReadHeaderTimeout: 5 * time.Second}

	go func() { _ = dispatcher.Run(ctx, time.Second) }()
	go func() {
		for range time.Tick(time.Minute) {
			limiter.Sweep()
		}
	}()
	go func() {
		<-ctx.Done()
		deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(deadline)
	}()

	logger.Printf("gateway listens on %s", c.addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	logger := log.New(os.Stderr, "gateway ", log.LstdFlags)
	if err := run(logger); err != nil {
		logger.Fatal(err)
	}
}
