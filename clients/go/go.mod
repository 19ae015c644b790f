module crier.example/resume

go 1.26

require github.com/coder/websocket v1.8.13
