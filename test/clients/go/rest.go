package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"
)

const nilUUID = "00000000-0000-0000-0000-000000000000"

type point struct {
	Type        string    `json:"type"`
	Coordinates []float64 `json:"coordinates"`
}

type trackable struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Name         string          `json:"name,omitempty"`
	Providers    []string        `json:"location_providers,omitempty"`
	FenceTimeout *int64          `json:"fence_timeout,omitempty"`
	Properties   json.RawMessage `json:"properties,omitempty"`
}

type provider struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	Name         string `json:"name,omitempty"`
	FenceTimeout *int64 `json:"fence_timeout,omitempty"`
}

// location has what is unset as empty texts, where a client does not leave it out.
type location struct {
	Position     point           `json:"position"`
	Source       string          `json:"source"`
	ProviderType string          `json:"provider_type"`
	ProviderID   string          `json:"provider_id"`
	Trackables   []string        `json:"trackables,omitempty"`
	Generated    *time.Time      `json:"timestamp_generated,omitempty"`
	Sent         *time.Time      `json:"timestamp_sent,omitempty"`
	Crs          string          `json:"crs,omitempty"`
	Accuracy     *float64        `json:"accuracy,omitempty"`
	Floor        float64         `json:"floor,omitempty"`
	Properties   json.RawMessage `json:"properties,omitempty"`
}

type motion struct {
	ID       string   `json:"id"`
	Location location `json:"location"`
}

type fenceEvent struct {
	ID        string     `json:"id"`
	FenceID   string     `json:"fence_id"`
	EventType string     `json:"event_type"`
	Entry     *time.Time `json:"entry_time"`
	Exit      *time.Time `json:"exit_time"`
}

type collisionEvent struct {
	ID    string     `json:"id"`
	Type  string     `json:"collision_type"`
	Start *time.Time `json:"start_time"`
}

// apiError is what a client makes of a refusal.
type apiError struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e apiError) Error() string {
	return fmt.Sprintf("%s (%d): %s", e.Type, e.Code, e.Message)
}

type api struct {
	ctx  context.Context
	base string
}

// call sends a body, if there is one, and reads the answer into what is given.
func (a api) call(method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		encoded := &bytes.Buffer{}
		if err := json.NewEncoder(encoded).Encode(body); err != nil {
			return err
		}
		sent = encoded
	}
	request, err := http.NewRequestWithContext(a.ctx, method, a.base+path, sent)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		refusal := apiError{}
		if err := json.Unmarshal(text, &refusal); err != nil {
			return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
		}
		return refusal
	}
	if into == nil {
		into = &struct{}{}
		if len(text) == 0 {
			return nil
		}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: %w: %s", method, path, err, text)
	}
	return nil
}

// restRound goes once through everything that a command-line client offers.
func restRound(ctx context.Context, base, notFound string) error {
	hub := api{ctx: ctx, base: base}
	timeout := int64(5000)
	cart := trackable{ID: nilUUID, Type: "omlox", Name: "Cart", Providers: []string{"77:4f:34:69:27:40"}, FenceTimeout: &timeout}
	tag := provider{ID: "77:4f:34:69:27:40", Type: "uwb", Name: "Tag"}
	place := location{Position: point{"Point", []float64{8.68, 50.11}}, ProviderType: "unknown", Crs: "EPSG:4326"}

	var carts []trackable
	var tags []provider
	var made trackable
	var madeTag provider
	var ids []string
	var at location
	return firstOf(
		func() error { return hub.call("GET", "/trackables/summary", nil, &carts) },
		func() error { return same("no trackables", len(carts), 0) },
		func() error { return hub.call("POST", "/providers", tag, &madeTag) },
		func() error { return same("the provider", madeTag, tag) },
		func() error { return hub.call("POST", "/trackables", cart, &made) },
		func() error {
			if made.ID == nilUUID {
				return fmt.Errorf("the trackable has no id: %+v", made)
			}
			cart.ID = made.ID
			return same("the trackable", made, cart)
		},
		func() error { return hub.call("GET", "/trackables/"+cart.ID, nil, &made) },
		func() error { return same("the trackable as it is kept", made, cart) },
		func() error {
			cart.Name = "Cart 2"
			return hub.call("PUT", "/trackables/"+cart.ID, cart, nil)
		},
		func() error { return hub.call("GET", "/trackables/summary", nil, &carts) },
		func() error { return same("the trackables", carts, []trackable{cart}) },
		func() error {
			tag.Name = "Tag 2"
			return hub.call("PUT", "/providers/"+tag.ID, tag, nil)
		},
		func() error { return hub.call("GET", "/providers/summary", nil, &tags) },
		func() error { return same("the providers", tags, []provider{tag}) },
		func() error { return hub.call("GET", "/providers", nil, &ids) },
		func() error { return same("ids of providers", ids, []string{tag.ID}) },
		func() error { return hub.call("PUT", "/providers/"+tag.ID+"/location", place, nil) },
		func() error { return hub.call("GET", "/trackables/"+cart.ID+"/location", nil, &at) },
		func() error { return same("the place", at.Position, place.Position) },
		func() error { return same("its trackables", at.Trackables, []string{cart.ID}) },
		func() error { return hub.call("PUT", "/providers/locations", []location{at}, nil) },
		func() error { return hub.call("DELETE", "/trackables/"+cart.ID, nil, nil) },
		func() error { return refused(hub.call("GET", "/trackables/"+cart.ID, nil, &made), 404, notFound) },
		func() error { return refused(hub.call("DELETE", "/trackables/"+cart.ID, nil, nil), 404, notFound) },
		func() error { return hub.call("DELETE", "/providers", nil, nil) },
		func() error { return hub.call("GET", "/providers/summary", nil, &tags) },
		func() error { return same("no providers", len(tags), 0) },
	)
}

func firstOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func same(what string, found, expected any) error {
	if reflect.DeepEqual(found, expected) {
		return nil
	}
	return fmt.Errorf("%s: expected %+v, found %+v", what, expected, found)
}

func refused(err error, code int, kind string) error {
	refusal, ok := err.(apiError)
	if !ok || refusal.Code != code || refusal.Type != kind {
		return fmt.Errorf("expected %d %q, found %v", code, kind, err)
	}
	return nil
}
