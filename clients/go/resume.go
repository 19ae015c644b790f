// Package resume subscribes to a GraphQL subscription and misses no event, over graphql-transport-ws (docs/reference/resume.md).
//
// Copy the file: it is all there is, beside github.com/coder/websocket.
package resume

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

const (
	protocol   = "graphql-transport-ws"
	maxPause   = 30 * time.Second
	ackTimeout = 10 * time.Second
	keepAlive  = 10 * time.Second
	pingLimit  = 5 * time.Second
	maxBytes   = 16 << 20
)

// A client that comes back after these would be closed again.
var fatalCodes = map[websocket.StatusCode]bool{
	1002: true, 1007: true, 1008: true, 1009: true, 4400: true, 4401: true, 4406: true, 4409: true, 4429: true, 4500: true,
}

// Subscription is what a server is asked for.
type Subscription struct {
	URL       string
	Query     string
	Variables map[string]any
	// ConnectionParams returns the payload of connection_init; it is called for each connection, and again after an error. nil: there is none.
	ConnectionParams func(context.Context) (map[string]any, error)
	// Cursor is that of the last result of an earlier run. "": begins now.
	Cursor string
}

// Result is one result of the subscription.
type Result struct {
	Data       json.RawMessage `json:"data"`
	Errors     []Error         `json:"errors,omitempty"`
	Extensions Extensions      `json:"extensions"`
}

// Extensions says where a result stands among the events. Resumed is nil unless the subscription has begun again.
type Extensions struct {
	Cursor  string `json:"cursor,omitempty"`
	Resumed *bool  `json:"resumed,omitempty"`
	Gap     bool   `json:"gap,omitempty"`
	Initial bool   `json:"initial,omitempty"`
}

// Error is a GraphQL error.
type Error struct {
	Message    string         `json:"message"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// Refused is the error of an operation that the server refuses.
type Refused struct{ Errors []Error }

func (refused *Refused) Error() string {
	messages := make([]string, len(refused.Errors))
	for i, one := range refused.Errors {
		messages[i] = one.Message
	}
	return strings.Join(messages, "; ")
}

type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Run calls onResult with each result once, in order, across connections. It returns nil after the last one, the error of onResult, a *Refused,
// a websocket.CloseError that retries cannot mend, or that of ctx.
func (s Subscription) Run(ctx context.Context, onResult func(Result) error) error {
	cursor, isNew, attempt := s.Cursor, s.Cursor == "", 0
	for {
		isOver, err := s.connection(ctx, &cursor, &isNew, func(result Result) error {
			attempt = 0
			return onResult(result)
		})
		if isOver {
			return err
		}
		pause := min(time.Second<<min(attempt, 5), maxPause)
		attempt++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rand.Float64() * float64(pause))):
		}
	}
}

// connection serves the subscription until its connection ends. True: the subscription is over, too.
func (s Subscription) connection(ctx context.Context, cursor *string, isNew *bool, onResult func(Result) error) (bool, error) {
	socket, _, err := websocket.Dial(ctx, s.URL, &websocket.DialOptions{Subprotocols: []string{protocol}})
	if err != nil {
		return ctx.Err() != nil, ctx.Err()
	}
	defer socket.CloseNow()
	alive, stop := context.WithCancel(ctx)
	defer stop()
	go keep(alive, socket)
	socket.SetReadLimit(maxBytes)
	if err := s.initialise(ctx, socket); err != nil {
		return isFatal(ctx, err), err
	}
	payload := map[string]any{"query": s.Query, "variables": s.Variables}
	if !*isNew {
		payload["extensions"] = map[string]any{"resume": map[string]any{"cursor": orNull(*cursor)}}
	}
	*isNew = false
	if err := wsjson.Write(ctx, socket, map[string]any{"id": "1", "type": "subscribe", "payload": payload}); err != nil {
		return isFatal(ctx, err), err
	}
	for {
		next, err := receive(ctx, socket)
		if err != nil {
			return isFatal(ctx, err), err
		}
		switch next.Type {
		case "next":
			var result Result
			if err := json.Unmarshal(next.Payload, &result); err != nil {
				return true, err
			}
			*cursor = result.Extensions.Cursor
			if err := onResult(result); err != nil {
				return true, err
			}
		case "error":
			var refusals []Error
			if err := json.Unmarshal(next.Payload, &refusals); err != nil {
				return true, err
			}
			return !isTransient(refusals), &Refused{Errors: refusals}
		case "complete":
			return true, nil
		}
	}
}

func (s Subscription) initialise(ctx context.Context, socket *websocket.Conn) error {
	params := map[string]any{}
	if s.ConnectionParams != nil {
		given, err := s.ConnectionParams(ctx)
		if err != nil {
			return err
		}
		params = given
	}
	if err := wsjson.Write(ctx, socket, map[string]any{"type": "connection_init", "payload": params}); err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	for {
		next, err := receive(timed, socket)
		if err != nil || next.Type == "connection_ack" {
			return err
		}
	}
}

// keep ends a connection whose peer answers no ping: a network may fail in silence.
func keep(ctx context.Context, socket *websocket.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(keepAlive):
		}
		timed, cancel := context.WithTimeout(ctx, pingLimit)
		err := socket.Ping(timed)
		cancel()
		if err != nil {
			socket.CloseNow()
			return
		}
	}
}

// receive returns the next message that is no ping; pings are answered.
func receive(ctx context.Context, socket *websocket.Conn) (message, error) {
	for {
		var next message
		if err := wsjson.Read(ctx, socket, &next); err != nil {
			return next, err
		}
		if next.Type != "ping" {
			return next, nil
		}
		if err := wsjson.Write(ctx, socket, message{Type: "pong"}); err != nil {
			return next, err
		}
	}
}

func isFatal(ctx context.Context, err error) bool {
	var closed websocket.CloseError
	return ctx.Err() != nil || (errors.As(err, &closed) && fatalCodes[closed.Code])
}

// isTransient: the server is without Redis for now.
func isTransient(refusals []Error) bool {
	for _, one := range refusals {
		if one.Extensions["code"] == "BUS_UNAVAILABLE" {
			return true
		}
	}
	return false
}

func orNull(cursor string) any {
	if cursor == "" {
		return nil
	}
	return cursor
}
