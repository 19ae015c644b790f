import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Runs the statements of a file, of which the first argument is the name, on a table `orders` whose rows are inserted, updated and deleted. */
public class RunTables {
  public static void main(String[] arguments) throws Exception {
    var environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.setParallelism(1);
    var tables = StreamTableEnvironment.create(environment);
    var type = Types.ROW_NAMED(
        new String[] {"id", "customer", "amount", "placed"}, Types.LONG, Types.STRING, Types.BIG_DEC, Types.INSTANT);
    var changes = environment.fromData(
        type,
        order(RowKind.INSERT, 1, "c1", "10.50"),
        order(RowKind.INSERT, 2, "c1", "0.10"),
        order(RowKind.INSERT, 3, "c2", "9999999999.99"),
        order(RowKind.UPDATE_BEFORE, 2, "c1", "0.10"),
        order(RowKind.UPDATE_AFTER, 2, "c1", "0.20"),
        order(RowKind.DELETE, 3, "c2", "9999999999.99"));
    var schema = Schema.newBuilder()
        .column("id", "BIGINT").column("customer", "STRING").column("amount", "DECIMAL(12, 2)").column("placed", "TIMESTAMP_LTZ(3)")
        .build();
    tables.createTemporaryView("orders", tables.fromChangelogStream(changes, schema, ChangelogMode.all()));
    for (var statement : Files.readString(Path.of(arguments[0])).split(";")) {
      if (!statement.isBlank()) tables.executeSql(statement).await();
    }
  }

  private static Row order(RowKind kind, long id, String customer, String amount) {
    return Row.ofKind(kind, id, customer, new BigDecimal(amount), Instant.parse("2026-01-02T03:04:05.678Z").plusSeconds(id));
  }
}
