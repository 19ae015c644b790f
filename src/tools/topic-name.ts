import { UsageError } from '../base/errors.ts';
import { visible } from '../base/visible.ts';

const TOPIC = /^[A-Za-z0-9._-]{1,249}$/;

/** @param option what names the topic. @throws UsageError for a text that no topic can have as its name */
export function checkTopicName(option: string, topic: string): void {
  if (!TOPIC.test(topic))
    throw new UsageError(`${option}: expected letters, digits, ".", "_" and "-", got ${visible(topic)}`);
}
