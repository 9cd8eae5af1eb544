/** For what is tried again after a random pause: it need not take the time. */

/** What is tried again in this work is tried again at once. */
export async function withoutPauses<T>(work: () => Promise<T>): Promise<T> {
  const { random } = Math;
  Math.random = () => 0;
  return work().finally(() => {
    Math.random = random;
  });
}
