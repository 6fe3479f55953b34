// Package middleware contains what every request passes on its way through the gateway.
package middleware

import (
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// Limiter decides whether a client may send another request now. When it may
// not, the duration says how long to wait.
type Limiter interface {
	Allow(client string) (ok bool, retryAfter time.Duration)
}

// statusRecorder remembers the status a handler answered with.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Logging writes one line per request.
func Logging(logger *log.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started := time.Now()
			recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
			defer func() {
				logger.Printf("%s %s %d %s", r.Method, r.URL.Path, recorder.status, time.Since(started))
			}()
			next.ServeHTTP(recorder, r)
		})
	}
}

// Recover turns a panic in a handler into a 500, and keeps the process alive.
func Recover(logger *log.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if cause := recover(); cause != nil {
					logger.Printf("panic in %s: %v\n%s", r.URL.Path, cause, debug.Stack())
					http.Error(w, "internal error", http.StatusInternalServerError)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// RateLimit answers 429 to clients, told apart by address, that send too much.
func RateLimit(limiter Limiter) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			client, _, err := net.SplitHostPort(r.RemoteAddr)
			if err != nil {
				client = r.RemoteAddr
			}
			if ok, wait := limiter.Allow(client); !ok {
				w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
				http.Error(w, "too many requests", http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
