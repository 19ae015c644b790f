/** Returns the result of the call. @throws what `onTimeout` makes, beside the error of the call, if there is none after `ms` */
export async function withTimeout<Value>(
  call: () => Value | Promise<Value>,
  ms: number,
  onTimeout = () => new Error(`it did not answer within ${ms} ms`),
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  try {
    return await Promise.race([call(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
