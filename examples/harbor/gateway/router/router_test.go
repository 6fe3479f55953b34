package router

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func echo(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", name, ParamsFrom(r.Context())["id"])
	}
}

func TestRouterDispatch(t *testing.T) {
	r := New()
	r.HandleFunc(http.MethodGet, "/v1/parcels/{id}", echo("get"))
	r.HandleFunc(http.MethodDelete, "/v1/parcels/{id}", echo("delete"))
	r.HandleFunc(http.MethodGet, "/v1/ledger/*", echo("ledger"))

	cases := []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/v1/parcels/pcl_1", 200, "get pcl_1"},
		{"DELETE", "/v1/parcels/pcl_2/", 200, "delete pcl_2"},
		{"GET", "/v1/ledger/accounts/42", 200, "ledger "},
		{"POST", "/v1/parcels/pcl_1", 405, "method not allowed\n"},
		{"GET", "/v2/parcels", 404, "404 page not found\n"},
	}
	for _, c := range cases {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			r.ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, nil))
			if recorder.Code != c.status || recorder.Body.String() != c.body {
				t.Errorf("got %d %q", recorder.Code, recorder.Body.String())
			}
		})
	}
}
