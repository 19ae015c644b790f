package crier;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A GraphQL subscription that misses no event, over graphql-transport-ws (docs/reference/resume.md). For Java 17 and later, and Kotlin.
 *
 * <pre>
 * new ResumingSubscription(URI.create("ws://localhost:4000/graphql"), "subscription { bids { amount } }")
 *     .run(result -> System.out.println(result.data()));
 * </pre>
 *
 * Copy the file: it is all there is. Results are JSON text, for the JSON library of the program.
 */
public final class ResumingSubscription {
  private static final String PROTOCOL = "graphql-transport-ws";
  /** A client that comes back after these would be closed again. */
  private static final Set<Integer> FATAL_CODES = Set.of(1002, 1007, 1008, 1009, 4400, 4401, 4406, 4409, 4429, 4500);
  private static final int MAX_PAUSE_SECONDS = 30;
  private static final int OPENING_SECONDS = 10;
  private static final int KEEP_ALIVE_SECONDS = 10;
  private static final int PING_LIMIT_SECONDS = 5;

  /**
   * One result; `json` is all of it. `cursor`: of its event; null: it has none. `resumed`: null unless the subscription has begun again; false: events
   * may be missing before it, as with `gap`. `initial`: it repeats a known state.
   */
  public record Result(
      String json, String data, String errors, String cursor, Boolean resumed, boolean gap, boolean initial) {}

  /** What a program does with a result. */
  public interface Sink {
    void accept(Result result) throws Exception;
  }

  /** The server refuses the operation. */
  public static final class Refused extends Exception {
    private final String errors;

    Refused(String errors) {
      super(partsOf(errors).stream().map(e -> unquoted(membersOf(e).get("message"))).collect(Collectors.joining("; ")));
      this.errors = errors;
    }

    /** A JSON list, as GraphQL gives it. */
    public String errors() {
      return errors;
    }
  }

  /** The server has closed the connection, with a code that no retry mends. */
  public static final class Closed extends IOException {
    private final int code;

    Closed(int code, String reason) {
      super(code + " " + reason);
      this.code = code;
    }

    public int code() {
      return code;
    }
  }

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(OPENING_SECONDS)).build();
  private final URI url;
  private final String query;
  private String variables = "{}";
  private Supplier<String> connectionParams = () -> "{}";
  private String cursor;
  private boolean isNew = true;
  private int attempt;

  public ResumingSubscription(URI url, String query) {
    this.url = url;
    this.query = query;
  }

  /** @param json an object */
  public ResumingSubscription variables(String json) {
    variables = json;
    return this;
  }

  /** @param json returns the payload of connection_init, an object; it is called for each connection */
  public ResumingSubscription connectionParams(Supplier<String> json) {
    connectionParams = json;
    return this;
  }

  /** @param last of the last result of an earlier run */
  public ResumingSubscription after(String last) {
    cursor = last;
    isNew = false;
    return this;
  }

  /**
   * Calls `sink` with each result once, in order, across connections. Returns after the last one. Called once.
   *
   * @throws Refused if the server refuses the operation
   * @throws Closed if it closes the connection for good
   * @throws InterruptedException if the thread is interrupted: the subscription ends
   */
  public void run(Sink sink) throws Exception {
    while (true) {
      var messages = new Messages();
      WebSocket socket = null;
      try {
        socket = done(client.newWebSocketBuilder().subprotocols(PROTOCOL).buildAsync(url, messages), OPENING_SECONDS);
        if (serve(socket, messages, sink)) return;
      } catch (Closed closed) {
        if (FATAL_CODES.contains(closed.code())) throw closed;
      } catch (Lost lost) {
        // It is tried again.
      } finally {
        if (socket != null) socket.abort();
      }
      var longest = 1000L * Math.min(1 << Math.min(attempt++, 5), MAX_PAUSE_SECONDS);
      Thread.sleep(ThreadLocalRandom.current().nextLong(longest));
    }
  }

  /** Serves the subscription until its connection ends. True: the subscription is over, too. */
  private boolean serve(WebSocket socket, Messages messages, Sink sink) throws Exception {
    send(socket, "{\"type\":\"connection_init\",\"payload\":" + connectionParams.get() + "}");
    while (!messages.next(socket, OPENING_SECONDS).get("type").equals("\"connection_ack\"")) {}
    var resume = isNew ? "" : ",\"extensions\":{\"resume\":{\"cursor\":" + (cursor == null ? null : quoted(cursor)) + "}}";
    var payload = "{\"query\":" + quoted(query) + ",\"variables\":" + variables + resume + "}";
    send(socket, "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":" + payload + "}");
    isNew = false;
    while (true) {
      var message = messages.nextAlive(socket);
      var content = message.get("payload");
      switch (message.get("type")) {
        case "\"next\"" -> {
          attempt = 0;
          var result = resultOf(content);
          cursor = result.cursor();
          sink.accept(result);
        }
        case "\"error\"" -> {
          // The server is without Redis for now.
          if (content.contains("\"code\":\"BUS_UNAVAILABLE\"")) return false;
          throw new Refused(content);
        }
        case "\"complete\"" -> {
          return true;
        }
        default -> {}
      }
    }
  }

  private static Result resultOf(String json) {
    var members = membersOf(json);
    var extensions = membersOf(members.getOrDefault("extensions", "{}"));
    var cursor = extensions.get("cursor");
    var resumed = extensions.get("resumed");
    return new Result(
        json,
        members.get("data"),
        members.get("errors"),
        cursor == null ? null : unquoted(cursor),
        resumed == null ? null : Boolean.valueOf(resumed),
        extensions.containsKey("gap"),
        extensions.containsKey("initial"));
  }

  private static void send(WebSocket socket, String message) throws Exception {
    done(socket.sendText(message, true), OPENING_SECONDS);
  }

  private static <T> T done(CompletableFuture<T> task, int seconds) throws Lost, InterruptedException {
    try {
      return task.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException failure) {
      throw new Lost();
    }
  }

  /** The connection has failed. */
  private static final class Lost extends Exception {}

  /** What arrives, one message at a time: the next one is read once it is asked for. */
  private static final class Messages implements WebSocket.Listener {
    private static final String PONG = "";
    private final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
    private final StringBuilder text = new StringBuilder();

    /** The next message as soon as it is there, from a server that answers pings. */
    Map<String, String> nextAlive(WebSocket socket) throws Exception {
      while (true) {
        var message = poll(socket, KEEP_ALIVE_SECONDS);
        if (message == null) {
          done(socket.sendPing(ByteBuffer.allocate(0)), PING_LIMIT_SECONDS);
          message = poll(socket, PING_LIMIT_SECONDS);
          if (message == null) throw new Lost();
        }
        if (!message.isEmpty()) return message;
      }
    }

    Map<String, String> next(WebSocket socket, int seconds) throws Exception {
      var message = poll(socket, seconds);
      if (message == null) throw new Lost();
      return message.isEmpty() ? next(socket, seconds) : message;
    }

    /** Empty: a pong, or a ping that was answered; null: nothing came in time. */
    private Map<String, String> poll(WebSocket socket, int seconds) throws Exception {
      var one = arrived.poll(seconds, TimeUnit.SECONDS);
      if (one == null) return null;
      if (one instanceof Exception failure) throw failure;
      socket.request(1);
      if (one == PONG) return Map.of();
      var message = membersOf((String) one);
      if (!message.get("type").equals("\"ping\"")) return message;
      send(socket, "{\"type\":\"pong\"}");
      return Map.of();
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
      text.append(part);
      if (isLast) {
        arrived.add(text.toString());
        text.setLength(0);
      } else socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
      arrived.add(PONG);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      arrived.add(new Closed(code, reason));
      return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      arrived.add(new Lost());
    }
  }

  /** The members of a JSON object, as JSON text. */
  private static Map<String, String> membersOf(String json) {
    var members = new HashMap<String, String>();
    for (var part : partsOf(json)) {
      var end = part.indexOf('"', 1);
      members.put(part.substring(1, end), part.substring(part.indexOf(':', end) + 1).strip());
    }
    return members;
  }

  /** What is between the commas of a JSON object or list. */
  private static List<String> partsOf(String json) {
    var parts = new ArrayList<String>();
    var depth = 0;
    var start = 0;
    var isText = false;
    for (var i = 0; i < json.length(); i++) {
      var character = json.charAt(i);
      if (character == '\\') i++;
      else if (character == '"') isText = !isText;
      else if (isText) continue;
      else if (character == '{' || character == '[') {
        if (depth++ == 0) start = i + 1;
      } else if (character == '}' || character == ']' || (character == ',' && depth == 1)) {
        if (character != ',' && --depth > 0) continue;
        var part = json.substring(start, i).strip();
        if (!part.isEmpty()) parts.add(part);
        start = i + 1;
      }
    }
    return parts;
  }

  private static String quoted(String text) {
    var json = new StringBuilder("\"");
    for (var character : text.toCharArray()) {
      if (character == '"' || character == '\\') json.append('\\').append(character);
      else if (character < ' ') json.append(String.format("\\u%04x", (int) character));
      else json.append(character);
    }
    return json.append('"').toString();
  }

  private static String unquoted(String json) {
    var text = new StringBuilder();
    for (var i = 1; i < json.length() - 1; i++) {
      var character = json.charAt(i);
      if (character != '\\') text.append(character);
      else if (json.charAt(++i) == 'u') {
        text.append((char) Integer.parseInt(json.substring(i + 1, i + 5), 16));
        i += 4;
      } else {
        var escape = "bfnrt".indexOf(json.charAt(i));
        text.append(escape < 0 ? json.charAt(i) : "\b\f\n\r\t".charAt(escape));
      }
    }
    return text.toString();
  }
}
