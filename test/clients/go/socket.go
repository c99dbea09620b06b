package main

import (
	"context"
	"encoding/json"
	"os"

	"nhooyr.io/websocket"
	"nhooyr.io/websocket/wsjson"
)

type frame struct {
	Event          string            `json:"event"`
	Topic          string            `json:"topic,omitempty"`
	SubscriptionID int               `json:"subscription_id,omitempty"`
	Payload        []json.RawMessage `json:"payload,omitempty"`
	Params         map[string]string `json:"params,omitempty"`
	Code           int               `json:"code,omitempty"`
	Description    string            `json:"description,omitempty"`
}

type connection struct {
	conn *websocket.Conn
}

// dial connects with the limit of 32 KiB that the package reads a message with.
func dial(ctx context.Context, base string) (connection, error) {
	conn, _, err := websocket.Dial(ctx, base+"/ws/socket", nil)
	return connection{conn}, err
}

func (c connection) send(ctx context.Context, f frame) error {
	if token := os.Getenv("TOKEN"); token != "" {
		f.Params = map[string]string{"token": token}
	}
	return wsjson.Write(ctx, c.conn, f)
}

func (c connection) next(ctx context.Context) (frame, error) {
	var f frame
	err := wsjson.Read(ctx, c.conn, &f)
	return f, err
}
