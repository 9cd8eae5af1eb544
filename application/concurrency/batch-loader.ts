/** Questions that are asked in one moment, put as one. */

const MOST = 1000;

/** `answer` gets what was asked for, each once, and gives what there is. Rejects for all who asked with it. */
export function createBatchLoader<Found>(
  answer: (names: ReadonlySet<string>) => Promise<ReadonlyMap<string, Found>>,
): (name: string) => Promise<Found | undefined> {
  let names = new Set<string>();
  let asked: Promise<ReadonlyMap<string, Found>> | undefined;

  const put = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const mine = names;
    [names, asked] = [new Set(), undefined];
    return answer(mine);
  };

  return async (name) => {
    // What was asked for before, and is under way, may be older than this question.
    while (names.size >= MOST) await asked?.catch(() => {});
    names.add(name);
    asked ??= put();
    return (await asked).get(name);
  };
}
