module example.test/client

go 1.19

require nhooyr.io/websocket v1.8.10
