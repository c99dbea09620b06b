// Command client speaks to a hub as public Go clients of the omlox API do: bodies from json.Encoder without a
// Content-Type, answers into structs, frames of at most 32 KiB, subscriptions known by the absence of an id.
//
//	client rest BASE TYPE          makes, reads, changes and deletes; TYPE is that of the error of what is not there
//	client listen BASE TOPIC N     subscribes, and prints N events, one a line
//	client publish BASE TOPIC      publishes the events on standard input, one a line and frame, and leaves at once
//
// TOKEN in the environment is the access token of the frames.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: client rest|listen|publish BASE …")
	}
	switch args[0] {
	case "rest":
		return restRound(ctx, args[1], args[2])
	case "listen":
		return listen(ctx, args[1], args[2], args[3])
	case "publish":
		return publish(ctx, args[1], args[2])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func listen(ctx context.Context, base, topic, times string) error {
	left, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	hub, err := dial(ctx, base)
	if err != nil {
		return err
	}
	if err := hub.send(ctx, frame{Event: "subscribe", Topic: topic}); err != nil {
		return err
	}
	answer, err := hub.next(ctx)
	if err != nil {
		return err
	}
	if answer.Event != "subscribed" {
		return fmt.Errorf("expected subscribed, found %+v", answer)
	}
	fmt.Println("subscribed")
	// The hub must answer this while it sends.
	ponged := make(chan error, 1)
	go func() { ponged <- hub.conn.Ping(ctx) }()
	for left > 0 {
		message, err := hub.next(ctx)
		if err != nil {
			return err
		}
		if message.Event != "message" || message.Topic != topic || message.SubscriptionID != 0 {
			return fmt.Errorf("expected a message of %s without an id, found %+v", topic, message)
		}
		for _, event := range message.Payload {
			if err := decodable(topic, event); err != nil {
				return fmt.Errorf("%s: %w", event, err)
			}
			fmt.Println(string(event))
			left--
		}
	}
	go func() { _, _ = hub.next(ctx) }()
	if err := <-ponged; err != nil {
		return fmt.Errorf("no pong: %w", err)
	}
	return nil
}

// decodable reads an event into what a client reads it into.
func decodable(topic string, event json.RawMessage) error {
	switch topic {
	case "location_updates":
		return json.Unmarshal(event, &location{})
	case "trackable_motions":
		return json.Unmarshal(event, &motion{})
	case "fence_events":
		return json.Unmarshal(event, &fenceEvent{})
	case "collision_events":
		return json.Unmarshal(event, &collisionEvent{})
	}
	return json.Unmarshal(event, &map[string]json.RawMessage{})
}

func publish(ctx context.Context, base, topic string) error {
	hub, err := dial(ctx, base)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		event := json.RawMessage(append([]byte(nil), lines.Bytes()...))
		if err := hub.send(ctx, frame{Event: "message", Topic: topic, Payload: []json.RawMessage{event}}); err != nil {
			return err
		}
	}
	// And that is all: the process ends, and its connection with it.
	return lines.Err()
}
