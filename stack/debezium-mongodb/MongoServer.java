import com.mongodb.client.MongoClients;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.BsonTimestamp;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Instant;
import java.util.List;
import org.bson.BsonDocument;

/** Serves MongoDB's protocol with change streams on a port of loopback, and runs the commands of its input, a line each, in the database `shop`. */
public class MongoServer {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    var server = new de.bwaldvogel.mongo.MongoServer(new Backend());
    server.bind("127.0.0.1", port);
    server.enableOplog();
    try (var client = MongoClients.create("mongodb://127.0.0.1:" + port)) {
      System.out.println("ready");
      var lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line; (line = lines.readLine()) != null; ) {
        System.out.println(client.getDatabase("shop").runCommand(BsonDocument.parse(line)).toJson());
      }
    } finally {
      server.shutdownNow();
    }
  }

  /**
   * What Debezium needs of a MongoDB and mongo-java-server does not have: the time of an answer, namespace and key of a change, and stages
   * behind `$changeStream`, with which Debezium leaves out other collections.
   */
  private static class Backend extends MemoryBackend {
    private static final Document NAMESPACE = new Document("db", "shop").append("coll", "orders");

    @Override
    public Document handleMessage(MongoMessage message) {
      if (message.getDocument().get("pipeline") instanceof List<?> stages && stages.get(0).toString().contains("$changeStream")) {
        message.getDocument().put("pipeline", stages.subList(0, 1));
      }
      var answer = super.handleMessage(message);
      answer.putIfAbsent("operationTime", new BsonTimestamp(Instant.now(), 1));
      if (answer.get("cursor") instanceof Document cursor && cursor.get("nextBatch") instanceof List<?> changes) {
        for (var change : changes) {
          if (!(change instanceof Document event && event.containsKey("operationType"))) continue;
          event.put("ns", NAMESPACE);
          if (event.get("fullDocument") instanceof Document row) event.put("documentKey", new Document("_id", row.get("_id")));
        }
      }
      return answer;
    }
  }
}
