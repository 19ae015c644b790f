// A GraphQL subscription that misses no event, over graphql-transport-ws (docs/reference/resume.md). For iOS 16, macOS 13 and later.
//
//     let url = URL(string: "ws://localhost:4000/graphql")!
//     for try await result in ResumingSubscription(url: url, query: "subscription { bids { amount } }").results {
//       print(try JSONDecoder().decode(Bids.self, from: result.data))
//     }
//
// Copy the file: it is all there is. NOT RUN: unlike the clients in other languages, no test compiles or runs this one.

import Foundation

private let subprotocol = "graphql-transport-ws"
/// A client that comes back after these would be closed again.
private let fatalCodes: Set<Int> = [1002, 1007, 1008, 1009, 4400, 4401, 4406, 4409, 4429, 4500]
private let longestPause = 30.0
private let openingSeconds = 10.0
private let keepAliveSeconds = 10.0
private let pingLimitSeconds = 5.0
private let maxBytes = 16 << 20

public struct ResumingSubscription: Sendable {
  public struct Result: Sendable {
    /// JSON; `null` where the result has errors alone.
    public let data: Data
    /// A JSON list, as GraphQL gives it.
    public let errors: Data?
    /// nil: the event has none.
    public let cursor: String?
    /// nil unless the subscription has begun again. False: events may be missing before this one, as with `gap`.
    public let resumed: Bool?
    public let gap: Bool
    /// It repeats a known state.
    public let initial: Bool
  }

  /// The server refuses the operation.
  public struct Refused: Error {
    public let messages: [String]
  }

  /// The server has closed the connection, with a code that no retry mends.
  public struct Closed: Error {
    public let code: Int
  }

  public let url: URL
  public let query: String
  /// A JSON object.
  public var variables = Data("{}".utf8)
  /// Returns the payload of connection_init, a JSON object; it is called for each connection, and again after an error.
  public var connectionParams: @Sendable () async throws -> Data = { Data("{}".utf8) }
  /// Of the last result of an earlier run; nil: begins now.
  public var cursor: String?

  public init(url: URL, query: String) {
    self.url = url
    self.query = query
  }

  /// Each result once, in order, across connections. It ends after the last one.
  public var results: AsyncThrowingStream<Result, Error> {
    AsyncThrowingStream { results in
      let task = Task {
        do {
          try await run { _ = results.yield($0) }
          results.finish()
        } catch {
          results.finish(throwing: error)
        }
      }
      results.onTermination = { _ in task.cancel() }
    }
  }

  private func run(_ onResult: (Result) -> Void) async throws {
    var position = (cursor: cursor, isNew: cursor == nil, attempt: 0)
    while true {
      let socket = URLSession.shared.webSocketTask(with: url, protocols: [subprotocol])
      socket.maximumMessageSize = maxBytes
      defer { socket.cancel(with: .normalClosure, reason: nil) }
      do {
        let isOver = try await withTaskCancellationHandler {
          try await serve(socket, &position, onResult)
        } onCancel: {
          socket.cancel()
        }
        if isOver { return }
      } catch let refused as Refused {
        throw refused
      } catch {
        let code = socket.closeCode.rawValue
        if fatalCodes.contains(code) { throw Closed(code: code) }
      }
      socket.cancel()
      try Task.checkCancellation()
      let pause = Double.random(in: 0..<1) * min(pow(2, Double(position.attempt)), longestPause)
      position.attempt += 1
      try await Task.sleep(for: .seconds(pause))
    }
  }

  /// Serves the subscription until its connection ends. True: the subscription is over, too.
  private func serve(
    _ socket: URLSessionWebSocketTask,
    _ position: inout (cursor: String?, isNew: Bool, attempt: Int),
    _ onResult: (Result) -> Void
  ) async throws -> Bool {
    let opening = deadline(openingSeconds, socket)
    defer { opening.cancel() }
    socket.resume()
    let params = try JSONSerialization.jsonObject(with: try await connectionParams())
    try await send(["type": "connection_init", "payload": params], socket)
    while try await receive(socket)["type"] as? String != "connection_ack" {}
    opening.cancel()
    var payload: [String: Any] = ["query": query, "variables": try JSONSerialization.jsonObject(with: variables)]
    if !position.isNew { payload["extensions"] = ["resume": ["cursor": position.cursor.map { $0 as Any } ?? NSNull()]] }
    try await send(["id": "1", "type": "subscribe", "payload": payload], socket)
    position.isNew = false
    let keeping = Task { try await keep(socket) }
    defer { keeping.cancel() }
    while true {
      let message = try await receive(socket)
      switch message["type"] as? String {
      case "next":
        let result = try resultOf(message["payload"] as? [String: Any] ?? [:])
        position.attempt = 0
        position.cursor = result.cursor
        onResult(result)
      case "error":
        let errors = message["payload"] as? [[String: Any]] ?? []
        // The server is without Redis for now.
        if errors.contains(where: { ($0["extensions"] as? [String: Any])?["code"] as? String == "BUS_UNAVAILABLE" }) {
          return false
        }
        throw Refused(messages: errors.compactMap { $0["message"] as? String })
      case "complete":
        return true
      default:
        break
      }
    }
  }

  private func resultOf(_ payload: [String: Any]) throws -> Result {
    let extensions = payload["extensions"] as? [String: Any] ?? [:]
    return Result(
      data: try json(payload["data"] ?? NSNull()),
      errors: try payload["errors"].map(json),
      cursor: extensions["cursor"] as? String,
      resumed: extensions["resumed"] as? Bool,
      gap: extensions["gap"] != nil,
      initial: extensions["initial"] != nil)
  }
}

/// Ends the connection of a server that answers no ping: a network may fail in silence.
private func keep(_ socket: URLSessionWebSocketTask) async throws {
  while true {
    try await Task.sleep(for: .seconds(keepAliveSeconds))
    let limit = deadline(pingLimitSeconds, socket)
    defer { limit.cancel() }
    try await withCheckedThrowingContinuation { (pong: CheckedContinuation<Void, Error>) in
      socket.sendPing { error in
        if let error { pong.resume(throwing: error) } else { pong.resume() }
      }
    }
  }
}

/// Ends the connection unless it is cancelled in time.
private func deadline(_ seconds: Double, _ socket: URLSessionWebSocketTask) -> Task<Void, Error> {
  Task {
    try await Task.sleep(for: .seconds(seconds))
    socket.cancel()
  }
}

/// The next message but pings, which are answered.
private func receive(_ socket: URLSessionWebSocketTask) async throws -> [String: Any] {
  while true {
    guard case .string(let text) = try await socket.receive() else { continue }
    let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    if message["type"] as? String != "ping" { return message }
    try await send(["type": "pong"], socket)
  }
}

private func send(_ message: [String: Any], _ socket: URLSessionWebSocketTask) async throws {
  try await socket.send(.string(String(decoding: try json(message), as: UTF8.self)))
}

private func json(_ value: Any) throws -> Data {
  try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
}
