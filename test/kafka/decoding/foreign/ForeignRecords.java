import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.FieldMask;
import com.google.protobuf.Int64Value;
import com.google.protobuf.ListValue;
import com.google.protobuf.StringValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/**
 * Writes random records as producers with Java's libraries of Avro and Protobuf do, in Confluent's wire format, and beside each the same
 * record as JSON: avro.records and avro.jsonl, protobuf.records and protobuf.jsonl. Each record has its length in 4 bytes before it.
 *
 * <p>Arguments: the folder of the schemas, the folder to write to, a seed, the number of records.
 */
public final class ForeignRecords {
  private static final long MAX_SAFE = (1L << 53) - 1;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String[] TEXTS = {"", "a", "Grüße", "日本語", "quote \" and \\ \n", "x".repeat(40), "😀 emoji that is long enough", "\u0000\u001f"};
  private final Random random;

  private ForeignRecords(long seed) {
    random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    Path schemas = Path.of(arguments[0]);
    Path target = Path.of(arguments[1]);
    int count = Integer.parseInt(arguments[3]);
    ForeignRecords records = new ForeignRecords(Long.parseLong(arguments[2]));
    records.writeAvro(schemas, target, count);
    records.writeProtobuf(schemas, target, count);
  }

  // Avro

  private void writeAvro(Path schemas, Path target, int count) throws Exception {
    Schema schema = new Schema.Parser().parse(Files.readString(schemas.resolve("order.avsc")));
    // With blocks: counts are negative, and followed by the bytes of the block.
    EncoderFactory blocking = new EncoderFactory().configureBlockSize(64);
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(target.resolve("avro.records")));
        PrintWriter json = new PrintWriter(Files.newBufferedWriter(target.resolve("avro.jsonl")))) {
      for (int i = 0; i < count; i++) {
        ObjectNode twin = JSON.createObjectNode();
        GenericRecord order = order(schema, twin, 3);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        header(bytes, 7);
        BinaryEncoder encoder =
            i % 2 == 0
                ? EncoderFactory.get().binaryEncoder(bytes, null)
                : blocking.blockingBinaryEncoder(bytes, null);
        new GenericDatumWriter<GenericRecord>(schema).write(order, encoder);
        encoder.flush();
        write(out, bytes.toByteArray());
        json.println(JSON.writeValueAsString(twin));
      }
    }
  }

  private GenericRecord order(Schema schema, ObjectNode json, int levels) {
    GenericRecord order = new GenericData.Record(schema);
    String orderId = text();
    order.put("orderId", orderId);
    json.put("orderId", orderId);
    long number = number();
    order.put("customerNumber", number);
    putLong(json, "customerNumber", number);
    int small = random.nextInt() >> random.nextInt(32);
    order.put("small", small);
    json.put("small", small);
    // 6 digits: of the numbers with more that are the same float, Java 17 does not print the shortest.
    float ratio = random.nextInt(1_000_000) / 1000f;
    order.put("ratio", ratio);
    json.put("ratio", ratio);
    double amount = random.nextGaussian() * Math.pow(10, random.nextInt(40) - 20);
    order.put("amount", amount);
    json.put("amount", amount);
    boolean paid = random.nextBoolean();
    order.put("isPaid", paid);
    json.put("isPaid", paid);
    String status = List.of("NEW", "PAID", "SENT").get(random.nextInt(3));
    order.put("status", new GenericData.EnumSymbol(schema.getField("status").schema(), status));
    json.put("status", status);
    String note = random.nextBoolean() ? text() : null;
    order.put("note", note);
    json.put("note", note);
    byte[] payload = bytes(random.nextInt(20));
    order.put("payload", ByteBuffer.wrap(payload));
    json.put("payload", payload);
    byte[] digest = bytes(4);
    order.put("digest", new GenericData.Fixed(schema.getField("digest").schema(), digest));
    json.put("digest", digest);
    putDecimal(order, json, "price", new BigDecimal(BigInteger.valueOf(random.nextLong() % 1_000_000_000_000L), 2));
    putDecimal(order, json, "exactPrice", new BigDecimal(new BigInteger(60, random).negate(), 4));
    long created = random.nextInt() * 1000L * (random.nextInt(3) - 1) + random.nextInt(1000);
    order.put("createdAt", created);
    json.put("createdAt", Instant.ofEpochMilli(created).toString());
    Long updated = random.nextBoolean() ? random.nextLong() % 60_000_000_000_000_000L : null;
    order.put("updatedAt", updated);
    if (updated == null) json.putNull("updatedAt");
    else json.put("updatedAt", Instant.ofEpochSecond(Math.floorDiv(updated, 1_000_000), Math.floorMod(updated, 1_000_000) * 1000L).toString());
    int due = random.nextInt(100_000) - 20_000;
    order.put("dueOn", due);
    json.put("dueOn", LocalDate.ofEpochDay(due).toString());
    int open = random.nextInt(86_400_000);
    order.put("openAt", open);
    json.put("openAt", Instant.ofEpochMilli(open).toString().substring(11).replace("Z", ""));
    order.put("localAt", created);
    json.put("localAt", Instant.ofEpochMilli(created).toString().replace("Z", ""));
    String trace = new UUID(random.nextLong(), random.nextLong()).toString();
    order.put("traceId", trace);
    json.put("traceId", trace);
    Schema line = schema.getField("orderLines").schema().getElementType();
    List<GenericRecord> lines = new ArrayList<>();
    ArrayNode lineNodes = json.putArray("orderLines");
    for (int i = random.nextInt(4); i > 0; i--) lines.add(line(line, lineNodes.addObject()));
    order.put("orderLines", lines);
    Map<String, Object> labels = new LinkedHashMap<>();
    ObjectNode labelNodes = json.putObject("labels");
    for (int i = random.nextInt(4); i > 0; i--) {
      String key = "key_" + (char) ('a' + i);
      switch (random.nextInt(3)) {
        case 0 -> {
          labels.put(key, null);
          labelNodes.putNull(key);
        }
        case 1 -> {
          long value = number();
          labels.put(key, value);
          putLong(labelNodes, key, value);
        }
        default -> labels.put(key, line(line, labelNodes.putObject(key)));
      }
    }
    order.put("labels", labels);
    if (levels == 0 || random.nextInt(3) > 0) json.putNull("replacedBy");
    else order.put("replacedBy", order(schema, json.putObject("replacedBy"), levels - 1));
    return order;
  }

  private GenericRecord line(Schema schema, ObjectNode json) {
    GenericRecord line = new GenericData.Record(schema);
    String sku = text();
    line.put("skuCode", sku);
    json.put("skuCode", sku);
    int count = random.nextInt(100);
    line.put("itemCount", count);
    json.put("itemCount", count);
    List<String> tags = new ArrayList<>();
    ArrayNode tagNodes = json.putArray("tagNames");
    for (int i = random.nextInt(30); i > 20; i--) {
      tags.add(text());
      tagNodes.add(tags.get(tags.size() - 1));
    }
    line.put("tagNames", tags);
    return line;
  }

  private static void putDecimal(GenericRecord record, ObjectNode json, String name, BigDecimal value) {
    Schema schema = record.getSchema().getField(name).schema();
    Conversions.DecimalConversion conversion = new Conversions.DecimalConversion();
    record.put(
        name,
        schema.getType() == Schema.Type.FIXED
            ? conversion.toFixed(value, schema, schema.getLogicalType())
            : conversion.toBytes(value, schema, schema.getLogicalType()));
    json.put(name, value.toPlainString());
  }

  /** As crier prints it: beyond 2^53 as a string. */
  private static void putLong(ObjectNode json, String name, long value) {
    if (Math.abs(value) <= MAX_SAFE && value != Long.MIN_VALUE) json.put(name, value);
    else json.put(name, Long.toString(value));
  }

  // Protobuf

  private void writeProtobuf(Path schemas, Path target, int count) throws Exception {
    Map<String, FileDescriptor> files = new HashMap<>();
    FileDescriptorSet set = FileDescriptorSet.parseFrom(Files.readAllBytes(schemas.resolve("order.desc")));
    for (FileDescriptorProto file : set.getFileList()) {
      FileDescriptor[] imports = file.getDependencyList().stream().map(files::get).toArray(FileDescriptor[]::new);
      files.put(file.getName(), FileDescriptor.buildFrom(file, imports));
    }
    Descriptor order = files.get("order.proto").findMessageTypeByName("Order");
    Descriptor line = files.get("order.proto").findMessageTypeByName("Line");
    JsonFormat.Printer printer =
        JsonFormat.printer()
            .usingTypeRegistry(JsonFormat.TypeRegistry.newBuilder().add(order).add(line).add(Duration.getDescriptor()).build())
            .alwaysPrintFieldsWithNoPresence()
            .preservingProtoFieldNames()
            .omittingInsignificantWhitespace();
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(target.resolve("protobuf.records")));
        PrintWriter json = new PrintWriter(Files.newBufferedWriter(target.resolve("protobuf.jsonl")))) {
      for (int i = 0; i < count; i++) {
        DynamicMessage message = message(order, line, 3);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        header(bytes, 8);
        // The indexes [1], as signed varints: Order is the second message of the file.
        bytes.write(2);
        bytes.write(2);
        message.writeTo(bytes);
        write(out, bytes.toByteArray());
        json.println(printer.print(message));
      }
    }
  }

  private DynamicMessage message(Descriptor order, Descriptor line, int levels) throws Exception {
    DynamicMessage.Builder builder = DynamicMessage.newBuilder(order);
    for (FieldDescriptor field : order.getFields()) {
      if (random.nextInt(3) == 0) continue;
      switch (field.getName()) {
        case "created_at" ->
            set(builder, field, Timestamp.newBuilder().setSeconds(random.nextInt() * 10L).setNanos(nanos()).build());
        case "took" -> {
          int sign = random.nextBoolean() ? 1 : -1;
          set(builder, field, Duration.newBuilder().setSeconds((long) sign * random.nextInt(1000)).setNanos(sign * nanos()).build());
        }
        case "quota" -> set(builder, field, Int64Value.of(number()));
        case "label" -> set(builder, field, StringValue.of(text()));
        case "attributes" -> set(builder, field, struct(2));
        case "mask" -> set(builder, field, FieldMask.newBuilder().addPaths("order_id").addPaths("a_b.c").build());
        case "extra" ->
            set(builder, field, random.nextBoolean() ? Any.pack(line(line)) : Any.pack(Duration.newBuilder().setSeconds(3).build()));
        case "lines" -> {
          for (int i = random.nextInt(3); i > 0; i--) builder.addRepeatedField(field, line(line));
        }
        case "lines_by_sku", "names" -> {
          FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
          FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
          for (int i = random.nextInt(3); i > 0; i--) {
            boolean isNumber = key.getJavaType() == FieldDescriptor.JavaType.LONG;
            builder.addRepeatedField(
                field,
                DynamicMessage.newBuilder(field.getMessageType())
                    .setField(key, isNumber ? (Object) (number() ^ i) : (Object) ("Key-" + i))
                    .setField(value, isNumber ? text() : line(line))
                    .build());
          }
        }
        case "deltas" -> {
          for (int i = random.nextInt(5); i > 0; i--) builder.addRepeatedField(field, random.nextInt() >> random.nextInt(32));
        }
        case "rates" -> {
          for (int i = random.nextInt(5); i > 0; i--) builder.addRepeatedField(field, random.nextGaussian());
        }
        case "history" -> {
          for (int i = random.nextInt(5); i > 0; i--) builder.addRepeatedField(field, field.getEnumType().getValues().get(random.nextInt(3)));
        }
        case "voucher" -> builder.setField(field, line(line));
        case "replaced_by" -> {
          if (levels > 0) builder.setField(field, message(order, line, levels - 1));
        }
        default -> builder.setField(field, scalar(field));
      }
    }
    return builder.build();
  }

  /** The well-known types of the file and those of the library have descriptors of their own. */
  private static void set(DynamicMessage.Builder builder, FieldDescriptor field, com.google.protobuf.Message value) throws Exception {
    builder.setField(field, DynamicMessage.parseFrom(field.getMessageType(), value.toByteString()));
  }

  private DynamicMessage line(Descriptor descriptor) {
    DynamicMessage.Builder builder = DynamicMessage.newBuilder(descriptor);
    builder.setField(descriptor.findFieldByName("skuCode"), text());
    builder.setField(descriptor.findFieldByName("item_count"), random.nextInt());
    for (int i = random.nextInt(3); i > 0; i--) builder.addRepeatedField(descriptor.findFieldByName("tag_names"), text());
    return builder.build();
  }

  private Struct struct(int levels) {
    Struct.Builder struct = Struct.newBuilder();
    for (int i = random.nextInt(4); i > 0; i--) struct.putFields("Ann.Lee@" + i, value(levels));
    return struct.build();
  }

  private Value value(int levels) {
    return switch (random.nextInt(levels > 0 ? 6 : 4)) {
      case 0 -> Value.newBuilder().setNullValueValue(0).build();
      case 1 -> Value.newBuilder().setNumberValue(random.nextGaussian()).build();
      case 2 -> Value.newBuilder().setStringValue(text()).build();
      case 3 -> Value.newBuilder().setBoolValue(random.nextBoolean()).build();
      case 4 -> Value.newBuilder().setStructValue(struct(levels - 1)).build();
      default -> Value.newBuilder().setListValue(ListValue.newBuilder().addValues(value(levels - 1))).build();
    };
  }

  private Object scalar(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case LONG -> number();
      case INT -> random.nextInt() >> random.nextInt(32);
      case FLOAT -> random.nextInt(1000) / 100f;
      case DOUBLE -> random.nextGaussian();
      case BOOLEAN -> random.nextBoolean();
      case STRING -> text();
      case BYTE_STRING -> ByteString.copyFrom(bytes(random.nextInt(20)));
      case ENUM -> field.getEnumType().getValues().get(random.nextInt(3));
      default -> throw new IllegalStateException(field.getName());
    };
  }

  // Both

  private long number() {
    return random.nextLong() >> random.nextInt(64);
  }

  private int nanos() {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> random.nextInt(1000) * 1_000_000;
      case 2 -> random.nextInt(1_000_000) * 1000;
      default -> random.nextInt(1_000_000_000);
    };
  }

  private String text() {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void header(ByteArrayOutputStream bytes, int schemaId) {
    bytes.write(0);
    bytes.writeBytes(ByteBuffer.allocate(4).putInt(schemaId).array());
  }

  private static void write(DataOutputStream out, byte[] bytes) throws Exception {
    out.writeInt(bytes.length);
    out.write(bytes);
  }
}
