import { isTotal, openOrderTopic } from './order-topic.js';

const USAGE = `node examples/orders/produce.js <order id> PLACED|PAID|SHIPPED <total>   writes an order
node examples/orders/produce.js <order id> delete                        deletes it
`;

const [orderId, status = '', total = ''] = process.argv.slice(2);
const isOrder = ['PLACED', 'PAID', 'SHIPPED'].includes(status) && isTotal(total);
if (orderId && (isOrder || status === 'delete')) {
  try {
    const topic = await openOrderTopic();
    await (isOrder ? topic.put(orderId, status, total) : topic.delete(orderId)).finally(topic.close);
  } catch (error) {
    const { message, cause } = /** @type {Error} */ (error);
    process.stderr.write(`${cause instanceof Error ? cause.message : message}; does "npm run stack" run?\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write(USAGE);
  process.exitCode = 1;
}
