// Package router matches requests to handlers by method and path.
package router

import (
	"context"
	"net/http"
	"strings"

	"harbor.example/gateway/collections"
)

// Middleware wraps a handler with behaviour of its own.
type Middleware func(http.Handler) http.Handler

// Params are the values captured by the {name} segments of a pattern.
type Params map[string]string

type paramsKey struct{}

// ParamsFrom returns the path parameters of a request the router dispatched.
func ParamsFrom(ctx context.Context) Params {
	params, _ := ctx.Value(paramsKey{}).(Params)
	return params
}

// route is one registered pattern, split into segments.
type route struct {
	segments []string
	handlers map[string]http.Handler
}

// Router is an http.Handler that dispatches to registered patterns. Patterns
// are tried in the order of registration. A last segment of "*" matches any rest.
type Router struct {
	routes     []*route
	middleware []Middleware
	NotFound   http.Handler
}

// New returns a router without routes.
func New(middleware ...Middleware) *Router {
	return &Router{middleware: middleware, NotFound: http.NotFoundHandler()}
}

// Handle registers a handler. The extra middleware applies to this route only.
func (r *Router) Handle(method, pattern string, handler http.Handler, extra ...Middleware) {
	segments := split(pattern)
	wrapped := Chain(handler, extra...)
	for _, existing := range r.routes {
		if strings.Join(existing.segments, "/") == strings.Join(segments, "/") {
			existing.handlers[method] = wrapped
			return
		}
	}
	r.routes = append(r.routes, &route{
		segments: segments,
		handlers: map[string]http.Handler{method: wrapped},
	})
}

// HandleFunc is Handle for plain functions.
func (r *Router) HandleFunc(method, pattern string, handler http.HandlerFunc, extra ...Middleware) {
	r.Handle(method, pattern, handler, extra...)
}

// Match finds the handler for a request. The methods are those the path
// supports, so that a caller can tell "no such path" from "wrong method".
func (r *Router) Match(method, path string) (handler http.Handler, params Params, methods []string) {
	segments := split(path)
	for _, candidate := range r.routes {
		captured, ok := candidate.match(segments)
		if !ok {
			continue
		}
		return candidate.handlers[method], captured, collections.SortedKeys(candidate.handlers)
	}
	return nil, nil, nil
}

// ServeHTTP implements http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	Chain(http.HandlerFunc(r.dispatch), r.middleware...).ServeHTTP(w, req)
}

func (r *Router) dispatch(w http.ResponseWriter, req *http.Request) {
	handler, params, methods := r.Match(req.Method, req.URL.Path)
	switch {
	case handler != nil:
		ctx := context.WithValue(req.Context(), paramsKey{}, params)
		handler.ServeHTTP(w, req.WithContext(ctx))
	case len(methods) > 0:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		r.NotFound.ServeHTTP(w, req)
	}
}

func (rt *route) match(segments []string) (Params, bool) {
	params := Params{}
	for i, want := range rt.segments {
		if want == "*" {
			params["*"] = strings.Join(segments[i:], "/")
			return params, true
		}
		if i >= len(segments) {
			return nil, false
		}
		if strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") {
			params[want[1:len(want)-1]] = segments[i]
		} else if want != segments[i] {
			return nil, false
		}
	}
	return params, len(segments) == len(rt.segments)
}

// Chain wraps a handler so that the first middleware is the outermost.
func Chain(handler http.Handler, middleware ...Middleware) http.Handler {
	for i := len(middleware) - 1; i >= 0; i-- {
		handler = middleware[i](handler)
	}
	return handler
}

func split(path string) []string {
	return collections.Filter(strings.Split(path, "/"), func(s string) bool { return s != "" })
}
